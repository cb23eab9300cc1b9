import { METHODS } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { bearerOf, botIdOf } from '../../api/bot.ts'
import { API_PREFIX, ENDPOINTS, type Endpoint, type EndpointName } from '../../api/endpoints.ts'
import { FIXED_LIMITS } from '../../api/limits.ts'
import { valuesOf } from '../../util/local-door.ts'
import { errorEnvelope, apiError } from '../api-error.ts'
import { strikeBefore } from '../faults/strike.ts'
import * as botRoutes from '../routes/bot.ts'
import type { RouteHandler } from '../routes/call.ts'
import * as chats from '../routes/chats.ts'
import * as messages from '../routes/messages.ts'
import { countCall } from '../rules/rate-limits.ts'
import type { BotState } from '../state.ts'
import type { World } from '../world.ts'
import { isSameText } from './control-token.ts'
import { hangUpSignal, finishResponse } from './response.ts'
import { createListener, noSuchWorld, worldRouting } from './listener.ts'
import type { WorldFinder, ListenerAccess } from './listener.ts'
import { answerMedia } from './media.ts'
import type { CallRecorder } from '../transcript.ts'

/** A call without a response yet. It keeps its world, also after a restore replaces that world. */
interface OpenCall {
  world: World
  record: CallRecorder
  /** Its body goes to the transcript, even when the call is refused before the body is read. */
  isBodyRecorded: boolean
  bot?: BotState
}

/** Each file of routes exports the handlers of its subject by their names. */
const HANDLERS: Record<EndpointName, RouteHandler> = { ...botRoutes, ...chats, ...messages }

const ANY_BODY = { hasBody: true, overrideExisting: true }

/**
 * The service's listener: every endpoint of the spec under `/bot/v1`, and `/media/{id}`, of every
 * world.
 */
export function createService(findWorld: WorldFinder<{ world: World }>, access: ListenerAccess) {
  const openCalls = new WeakMap<FastifyRequest, OpenCall>()
  const routing = worldRouting(findWorld)
  const app = createListener({
    ...access,
    bodyLimit: FIXED_LIMITS.requestBytes,
    takesBody: (request) => {
      const endpoint = endpointOf(request)
      return endpoint !== undefined && endpoint.method !== 'GET' && !('hasBody' in endpoint)
    },
    rewriteUrl: routing.rewriteUrl,
    onArrival: (request) => {
      const world = routing.worldOf(request)?.world
      if (world === undefined) return
      const record = world.transcript.open({
        at: world.clock.now(),
        by: 'api',
        method: request.method,
        path: request.url,
        headers: request.raw.rawHeaders,
      })
      openCalls.set(request, { world, record, isBodyRecorded: false })
    },
  })
  // The limit on bodies holds for a GET with one, too.
  for (const method of METHODS) app.addHttpMethod(method, ANY_BODY)
  const recordBody = (request: FastifyRequest): void => {
    const call = openCalls.get(request)
    if (call === undefined || call.isBodyRecorded) return
    call.isBodyRecorded = true
    request.raw.on('data', (chunk: Buffer) => call.record.received(chunk))
  }

  const callOf = (request: FastifyRequest): OpenCall => {
    const call = openCalls.get(request)
    if (call === undefined) throw noSuchWorld()
    return call
  }

  app.addHook('onRequest', (request, _reply, next) => {
    const call = callOf(request)
    // A call of the API by its route, or by its path when it has no route.
    const isApi = endpointOf(request) !== undefined || request.url.startsWith(`${API_PREFIX}/`)
    if (isApi) call.bot = admitCall(call.world, request)
    next()
  })
  app.addHook('preParsing', (request, _reply, _payload, next) => {
    recordBody(request)
    next()
  })
  app.addHook('preHandler', (request, reply, next) => {
    const call = openCalls.get(request)
    const faults = call?.world.faults.take('before', callerOf(request, call.bot)) ?? []
    // `reply.sent` is no indication: a response that waits for the disk is not sent yet.
    const strike = async (): Promise<void> => {
      if (await strikeBefore(faults, { request, reply })) next()
    }
    strike().catch((error: unknown) => reply.send(error))
  })
  app.addHook('onSend', async (request, reply, payload) => {
    recordBody(request)
    const call = openCalls.get(request)
    if (call === undefined) return payload
    const caller = callerOf(request, call.bot)
    const sent = finishResponse(call.world, { ...call, ...caller, request, reply, payload })
    try {
      await call.world.persistence.flush()
      return sent
    } catch {
      const { status, body } = errorEnvelope(
        apiError('internal', 'what was done could not be written down'),
      )
      reply.code(status)
      return JSON.stringify(body)
    }
  })

  for (const endpoint of ENDPOINTS) {
    const { name, method, path } = endpoint
    app.route({
      method,
      url: API_PREFIX + path,
      config: { endpoint },
      handler: async (request, reply) => {
        const { world, bot } = callOf(request)
        if (bot === undefined) throw apiError('unauthorized', 'no token')
        const { query, body } = request
        const params = request.params as Record<string, string>
        const call = { world, bot, params, query, body, hangUp: hangUpSignal(reply) }
        const { result, status } = await HANDLERS[name](call)
        return reply.code(status ?? 200).send({ ok: true, result })
      },
    })
  }
  app.route({
    method: ['GET', 'HEAD'],
    url: '/media/:id',
    handler: (request, reply) => answerMedia(callOf(request).world, { request, reply }),
  })
  return app
}

function callerOf(request: FastifyRequest, bot: BotState | undefined) {
  const media = request.routeOptions.url?.startsWith('/media/') === true
  const route = endpointOf(request)?.name ?? (media ? 'media' : 'unknown')
  return { route, botId: bot?.id }
}

/** The endpoint that a request was routed to, from the `config` of its route, or undefined. */
const endpointOf = ({ routeOptions }: FastifyRequest): Endpoint | undefined =>
  (routeOptions.config as { endpoint?: Endpoint }).endpoint

/**
 * Checks, in this order: the address's rate window, the token, the bot's rate window, whether the
 * bot is paused.
 * @throws SandboxApiError `rate_limited`, `unauthorized` or `bot_paused`
 */
function admitCall(world: World, request: FastifyRequest): BotState {
  const bot = authenticate(world, request)
  countCall(world, { address: request.ip, bot })
  if (bot === null) {
    throw apiError('unauthorized', 'the token is missing, revoked, replaced or invalid')
  }
  const endpoint = endpointOf(request)
  const exempt = endpoint !== undefined && 'whilePaused' in endpoint
  if (bot.status === 'paused' && !exempt) throw apiError('bot_paused', 'the owner paused this bot')
  return bot
}

/** The bot whose token it is, or null. */
function authenticate(world: World, request: FastifyRequest): BotState | null {
  const [line, ...more] = valuesOf(request.raw.rawHeaders, 'authorization')
  const token = more.length === 0 ? bearerOf(line) : null
  const botId = token === null ? null : botIdOf(token)
  const bot = botId === null ? undefined : world.bots.get(botId)
  const isRight = token !== null && typeof bot?.token === 'string' && isSameText(token, bot.token)
  return isRight ? bot : null
}
