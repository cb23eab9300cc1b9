import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { API_PREFIX, ENDPOINTS, type EndpointName } from '../../api/endpoints.ts'
import { FIXED_LIMITS } from '../../api/limits.ts'
import { envelopeOf, no } from '../failure.ts'
import { strikeBefore } from '../faults/before.ts'
import { HANDLERS } from '../routes/table.ts'
import type { BotState } from '../state.ts'
import type { World } from '../world.ts'
import { admit, endpointOf } from './admit.ts'
import { finishAnswer, type Rewrite } from './answer.ts'
import { createListener } from './listener.ts'
import type { CallRecord } from '../transcript.ts'

/** What is known of a request under way. */
interface UnderWay {
  record: CallRecord
  /** Its body is being written down, also when it was refused unread. */
  read: boolean
  bot?: BotState
}

/** Endpoints for which the spec names a body. */
const TAKING_BODIES: ReadonlySet<EndpointName | undefined> = new Set<EndpointName>([
  'setWebhook',
  'putKey',
  'putCommands',
  'sendMessage',
  'editMessage',
  'deleteMessage',
  'answerCallback',
  'sendTyping',
])

/**
 * The service's listener: every endpoint of the spec under `/bot/v1`, and `/media/{id}`.
 * @param rewrites asked for every answer of a bot's call, in order
 */
export function createService(world: World, rewrites: ReadonlySet<Rewrite>): FastifyInstance {
  const underWay = new WeakMap<FastifyRequest, UnderWay>()
  const app = createListener({
    bodyBytes: FIXED_LIMITS.requestBytes,
    takesBody: (request) => TAKING_BODIES.has(endpointOf(request)?.name),
    arrived: (request) => {
      underWay.set(request, { record: openRecord(world, request), read: false })
    },
  })
  const recordBody = (request: FastifyRequest): void => {
    const call = underWay.get(request)
    if (call === undefined || call.read) return
    call.read = true
    request.raw.on('data', (chunk: Buffer) => call.record.received(chunk))
  }

  app.addHook('onRequest', (request, _reply, next) => {
    const call = underWay.get(request)
    if (call !== undefined && isApi(request)) call.bot = admit(world, request)
    next()
  })
  app.addHook('preParsing', (request, _reply, payload, next) => {
    recordBody(request)
    next(null, payload)
  })
  app.addHook('preHandler', (request, reply, next) => {
    const faults = world.faults.take('before', whoAsks(request, underWay.get(request)?.bot))
    // Who was answered is not by what Fastify says: an answer that waits for the disk is not sent.
    const strike = async (): Promise<void> => {
      if (await strikeBefore(faults, { request, reply })) next()
    }
    strike().catch((error: unknown) => reply.send(error))
  })
  app.addHook('onSend', async (request, reply, payload) => {
    recordBody(request)
    const call = underWay.get(request)
    if (call === undefined) return payload
    const asks = whoAsks(request, call.bot)
    const sent = finishAnswer(world, { ...call, ...asks, request, reply, payload, rewrites })
    try {
      await world.keep.settled()
      return sent
    } catch {
      const { status, body } = envelopeOf(no('internal', 'what was done could not be written down'))
      reply.code(status)
      return JSON.stringify(body)
    }
  })

  for (const { name, method, path } of ENDPOINTS) {
    app.route({
      method,
      url: API_PREFIX + path,
      handler: async (request, reply) => {
        const bot = underWay.get(request)?.bot
        if (bot === undefined) throw no('unauthorized', 'no token')
        const { result, status } = await HANDLERS[name]({
          world,
          bot,
          params: request.params as Record<string, string>,
          query: request.query,
          body: request.body,
          hungUp: hungUp(reply),
        })
        return reply.code(status ?? 200).send({ ok: true, result })
      },
    })
  }
  app.get<{ Params: { id: string } }>('/media/:id', (request, reply) => {
    const file = world.files.get(request.params.id)
    if (file === undefined) throw no('media_not_found', 'no such file')
    return reply.type('application/octet-stream').send(asBuffer(file))
  })
  return app
}

/** Everything but `/media` is a call of the API when it was routed, or when its path says so. */
function isApi(request: FastifyRequest): boolean {
  return endpointOf(request) !== undefined || request.url.startsWith(`${API_PREFIX}/`)
}

function whoAsks(
  request: FastifyRequest,
  bot: BotState | undefined,
): { route: string; botId: number | undefined } {
  const media = request.routeOptions.url?.startsWith('/media/') === true
  const route = endpointOf(request)?.name ?? (media ? 'media' : 'unknown')
  return { route, botId: bot?.id }
}

function openRecord(world: World, request: FastifyRequest): CallRecord {
  return world.transcript.open({
    at: world.clock.now(),
    by: 'api',
    method: request.method,
    path: request.url,
    headers: request.raw.rawHeaders,
  })
}

/** The same octets, not a copy. */
function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

function hungUp(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort()
  })
  return controller.signal
}
