import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { API_PREFIX, ENDPOINTS, type Endpoint } from '../../api/endpoints.ts'
import { Refusal } from '../../errors.ts'
import { stringify } from '../../util/exact-json.ts'
import type { ClearFields, Guard } from '../../kernel/index.ts'
import type { MessageOfCall } from '../../outbox/give.ts'
import { withClearFields } from '../../translate/bot-view.ts'
import type { BodilessMethod } from '../../service/attempt.ts'
import type { Upstream, UpstreamRequest } from '../../service/client.ts'
import { withoutQuery } from '../../service/path.ts'
import { IGNORES_BODY } from '../body.ts'
import { chatOf, idParam, queryOf, textParam } from '../params.ts'
import { admitted, hangUp, relay } from '../relay.ts'
import { PASSED, checkBody, noSuchField, type BodyRule } from './passed.ts'

/** The parts for passing requests through. */
export interface PassParts {
  upstream: Upstream
  /** False when the bot may publish a key of its own (`key.publish: false`). */
  managesKey: boolean
  /** Decides which fields of callback answers may be readable in protected chats. */
  clearFields: Pick<ClearFields, 'ofCallback' | 'taken'>
  guard: Pick<Guard, 'rule'>
  /** `routes.allowUnknown` */
  allowUnknown: boolean
  /** Both throw a Refusal, as `requireNoCode` and `refuseRequest` of the outbox. */
  outbox: {
    refuseRequest: (message: MessageOfCall) => Promise<void>
    refuseCodes: (body: unknown) => void
  }
  /** Called when the bot has had the service burn its token. */
  onTokenRevoked: () => void
}

/** Parameters that are not numbers. */
const TEXT_PARAMS = new Set(['callbackId', 'username'])
/** Segments whose calls are translated, managed or judged: never handed on as unknown. */
const NEVER_UNKNOWN = new Set(['messages', 'key', 'webhook', 'callbacks', 'token'])

/** Registers everything under the API's prefix that is not translated. */
export function passRoutes(app: FastifyInstance, parts: PassParts): void {
  for (const endpoint of ENDPOINTS) {
    const { name, method, path: url } = endpoint
    if (!(name in PASSED)) continue
    const rule = PASSED[name as keyof typeof PASSED]
    const isOurs = name === 'putKey' && parts.managesKey
    const handler = isOurs ? refuseKey : passHandler(endpoint, rule, parts)
    app.route({ method, url, ...(rule === null && IGNORES_BODY), handler })
  }
  app.route({
    method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    url: '/*',
    handler: (request, reply) => passUnknown(request, reply, parts),
  })
  app.route({
    method: ['HEAD', 'OPTIONS'],
    url: '/*',
    ...IGNORES_BODY,
    handler: (request, reply) => passBodiless(request, reply, parts),
  })
}

function refuseKey(): never {
  throw new Refusal('postern_key_managed')
}

const passHandler =
  (endpoint: Endpoint, rule: BodyRule | null, parts: PassParts) =>
  async (request: FastifyRequest, reply: FastifyReply) => {
    const isJudged = rule !== null && request.body !== undefined
    const wordy = isJudged ? checkBody(rule, request.body) : null
    const path = upstreamPath(endpoint.path, request) + queryOf(request)
    if (endpoint.name === 'answerCallback') {
      const callbackId = textParam(request, 'callbackId')
      const clear = await parts.clearFields.ofCallback(callbackId, request.body)
      const answered = await parts.upstream.relay(asCall(request, reply, path))
      return await relay(reply, withClearFields(answered, clear, parts.clearFields))
    }
    if (endpoint.name === 'deleteMessage') {
      const messageId = textParam(request, 'messageId')
      await parts.outbox.refuseRequest({ chatId: chatOf(request), messageId })
    }
    const isReadable = wordy === null ? undefined : await readableChat(request, wordy, parts)
    const call = asCall(request, reply, path, isReadable)
    const answer = await parts.upstream.relay(call)
    if (endpoint.name === 'revokeToken' && answer.envelope.ok) parts.onTokenRevoked()
    return await relay(reply, answer)
  }

/**
 * Lets a field that may hold words go into a chat that the guard rules readable.
 * @returns asked when it leaves: throws Refusal `postern_downgrade_refused` once the chat is not
 * @throws Refusal `bad_request` for any other chat, and where it is not sure which one; as `Guard.rule`
 */
async function readableChat(request: FastifyRequest, wordy: string, { guard }: PassParts) {
  const chatId = chatOf(request)
  const rule = chatId === null ? null : await guard.rule(chatId)
  if (rule?.body !== 'readable') throw noSuchField(wordy)
  return rule.require
}

/** Asks for headers alone: without the query, so that nothing is confirmed or polled for. */
async function passBodiless(request: FastifyRequest, reply: FastifyReply, parts: PassParts) {
  const path = withoutQuery((request.raw.url ?? '').slice(API_PREFIX.length))
  const method = request.method as BodilessMethod
  const answer = await parts.upstream.relay({ method, path, signal: hangUp(reply) })
  return await relay(reply, answer)
}

async function passUnknown(request: FastifyRequest, reply: FastifyReply, parts: PassParts) {
  const mayPass = parts.allowUnknown || request.body === undefined
  if (request.method !== 'GET' && !(mayPass && isUnknown(request))) {
    throw new Refusal('postern_route_refused')
  }
  const path = (request.raw.url ?? '').slice(API_PREFIX.length)
  return await relay(reply, await parts.upstream.relay(asCall(request, reply, path)))
}

/**
 * False for every spelling of a path that the sidecar translates or manages: a service that is
 * more lenient about case, slashes or parameters must not read it as the real one.
 */
function isUnknown(request: FastifyRequest): boolean {
  const segments = textParam(request, '*').toLowerCase().split(/[/;]/)
  return !segments.some((segment) => NEVER_UNKNOWN.has(segment.trim()))
}

function asCall(
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
  isReadable = (): void => {},
): UpstreamRequest {
  const { body } = request
  const method = request.method as UpstreamRequest['method']
  // A request that changes something is completed, so that the bot learns its outcome.
  if (method === 'GET') return { method, path, mayStream: true, signal: hangUp(reply) }
  const requireAllowed = (): void => {
    admitted(request).require()
    isReadable()
  }
  return { method, path, requireAllowed, ...(body !== undefined && { body: stringify(body) }) }
}

const upstreamPath = (pattern: string, request: FastifyRequest): string =>
  pattern.replace(/:(\w+)/g, (_all, name: string) =>
    encodeURIComponent(TEXT_PARAMS.has(name) ? textParam(request, name) : idParam(request, name)),
  )
