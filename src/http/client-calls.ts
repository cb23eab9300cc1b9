/** Clients at the bot's door: whose a request is, and what it is about. */
import type { IncomingMessage } from 'node:http'
import { TLSSocket } from 'node:tls'
import type { FastifyRequest } from 'fastify'
import { certificateCredential, CLIENT_TOKEN_PREFIX, tokenHashOf } from '../api/bot.ts'
import { isObject } from '../api/common.ts'
import { API_PREFIX, ENDPOINTS, type EndpointName } from '../api/endpoints.ts'
import type { Clients } from '../clients/clients.ts'
import { NEEDS, type ClientAct } from '../clients/may-client.ts'
import type { Presses } from '../kernel/index.ts'
import { presentedIn } from './auth.ts'
import type { ClientShares } from './client-shares.ts'
import { chatOf, textParam } from './params.ts'

/** What the door asks about clients. */
export interface DoorClients {
  of: Pick<Clients, 'find' | 'admit' | 'seesPeople'>
  presses: Pick<Presses, 'chatsOf'>
  shares: Pick<ClientShares, 'takeCalls' | 'begin'>
  /** Setting `clients.only`: the bot's own token opens nothing. */
  only: boolean
}

/** The part of a request that shows whose it is. */
export type CallerOf = Pick<IncomingMessage, 'rawHeaders' | 'socket'>

/**
 * How the client of a request is found (`Client.credential`): by its token, or where it presents none
 * by the certificate of its connection. Null where neither can be a client's.
 */
export function credentialOf({ rawHeaders, socket }: CallerOf): string | null {
  const [presented, ...more] = presentedIn(rawHeaders)
  if (presented === undefined) return certificateOf(socket)
  if (more.length > 0) return null
  return presented?.startsWith(CLIENT_TOKEN_PREFIX) === true ? tokenHashOf(presented) : null
}

function certificateOf(socket: CallerOf['socket']): string | null {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return null
  const fingerprint = socket.getPeerX509Certificate()?.fingerprint256
  return fingerprint === undefined ? null : certificateCredential(fingerprint)
}

const CALLS: ReadonlyMap<string, EndpointName> = new Map(
  ENDPOINTS.map(({ name, method, path }) => [`${method} ${API_PREFIX}${path}`, name]),
)

/** The call that a request below the API's prefix is; null for a path that the spec does not list. */
export const callOf = ({ method, routeOptions }: FastifyRequest): EndpointName | null =>
  CALLS.get(`${method} ${routeOptions.url}`) ?? null

/** A call that names no chat, and needs no right of a client. */
export const UNNAMED = { call: 'getMe', chatIds: [] } as const satisfies ClientAct

/** What a request below the API's prefix is about. @throws Refusal `postern_store_unwritable` */
export async function actOf(
  request: FastifyRequest,
  presses: DoorClients['presses'],
): Promise<ClientAct> {
  const call = callOf(request)
  const need = call === null ? null : NEEDS[call]
  if (need === null || need === 'anybody') return { call, chatIds: [] }
  const isPress = need.chats === 'press'
  const chatIds = isPress
    ? await presses.chatsOf(textParam(request, 'callbackId'))
    : [chatOf(request)].filter((id) => id !== null)
  const { text = '', armored, markup } = isObject(request.body) ? request.body : {}
  return {
    call,
    chatIds,
    // how long the text in a sealed body is, nobody knows
    textChars: armored === undefined && typeof text === 'string' ? text.length : Infinity,
    hasButtons: markup !== undefined,
    isLater: isForLater(request),
  }
}

const ASYNC = /(?:^|,)\s*respond-async\s*(?:[;,]|$)/i

/** Whether a call is to be made later: where it prefers that (RFC 7240, 4.1), or its client always does. */
export function isForLater({ headers, client }: FastifyRequest): boolean {
  const { prefer = '' } = headers
  return client?.outbox === 'always' || ASYNC.test([prefer].flat().join(','))
}
