/** Clients at the bot's door: whose token a request presents, and what it is about. */
import type { FastifyRequest } from 'fastify'
import { bearerOf, CLIENT_TOKEN_PREFIX, tokenHashOf } from '../api/bot.ts'
import { isObject } from '../api/common.ts'
import { API_PREFIX, ENDPOINTS } from '../api/endpoints.ts'
import {
  NEEDS,
  type ClientAct,
  type ClientCall,
  type Clients,
  type Presses,
} from '../kernel/index.ts'
import { valuesOf } from '../util/local-door.ts'
import { chatOf, textParam } from './params.ts'

/** What the door asks about clients. */
export interface DoorClients {
  of: Pick<Clients, 'find' | 'admit' | 'seesPeople'>
  presses: Pick<Presses, 'chatsOf'>
  /** Setting `clients.only`: the bot's own token opens nothing. */
  only: boolean
}

/** The hash by which the client of a request is found; null where it presents no client's token. */
export function clientHashOf(rawHeaders: readonly string[]): string | null {
  const [line, ...more] = valuesOf(rawHeaders, 'authorization')
  const presented = more.length > 0 ? null : bearerOf(line)
  return presented?.startsWith(CLIENT_TOKEN_PREFIX) === true ? tokenHashOf(presented) : null
}

const CALLS: ReadonlyMap<string, ClientCall> = new Map(
  ENDPOINTS.map(({ name, method, path }) => [`${method} ${API_PREFIX}${path}`, name]),
)

/** What a request below the API's prefix is about. @throws Refusal `postern_store_unwritable` */
export async function actOf(
  request: FastifyRequest,
  presses: DoorClients['presses'],
): Promise<ClientAct> {
  const call = CALLS.get(`${request.method} ${request.routeOptions.url}`) ?? null
  const need = call === null ? null : NEEDS[call]
  if (need === null || need === 'anybody') return { call, chatIds: [] }
  const chatId = chatOf(request)
  const chatIds =
    need.chats === 'press'
      ? await presses.chatsOf(textParam(request, 'callbackId'))
      : [chatId].filter((id) => id !== null)
  const { text = '', armored, markup } = isObject(request.body) ? request.body : {}
  return {
    call,
    chatIds,
    // how long the text in a sealed body is, nobody knows
    textChars: armored === undefined && typeof text === 'string' ? text.length : Infinity,
    hasButtons: markup !== undefined,
  }
}
