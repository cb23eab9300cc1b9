import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { apiError } from '../api-error.ts'
import { lastEventId, streamLog } from '../control/event-stream.ts'
import { readInput } from '../control/input.ts'
import { addControlRoutes, CONTROL_BODY_BYTES, type ControlledWorld } from '../control/routes.ts'
import { hangUpSignal } from '../http/response.ts'
import { createListener, type ListenerAccess } from '../http/listener.ts'
import type { BotTraffic } from './bot-traffic.ts'
import { readPageFile } from './files.ts'
import { PageLog } from './page-log.ts'

/** The page loads and calls nothing but this listener, and no text of it can become markup. */
const HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
}

const After = z
  .string()
  .regex(/^\d{1,15}$/, 'expected a number')
  .transform(Number)
const TrafficQuery = z.strictObject({ after: After.optional() })

/**
 * The page's listener, for the sandbox's own world: its files; the control below `/control`;
 * `GET /events`, the events of the control and of the bot's traffic as server-sent events; and
 * `GET /traffic?after=`, what passed between the bot and its sidecar.
 * @param botTraffic null when no sidecar runs in this process
 */
export function createPageListener(
  world: ControlledWorld,
  { botTraffic, ...access }: ListenerAccess & { botTraffic: BotTraffic | null },
): FastifyInstance {
  const app = createListener({
    ...access,
    browsers: 'own-page',
    bodyBytes: CONTROL_BODY_BYTES,
  })
  const log = new PageLog(world.live.events, botTraffic)
  const closing = new AbortController()
  app.addHook('preClose', (done) => {
    closing.abort()
    log[Symbol.dispose]()
    done()
  })
  app.addHook('onRequest', (_request, reply, next) => {
    reply.headers(HEADERS)
    next()
  })
  app.get('/', (_request, reply) => answerFile(reply, 'index.html'))
  app.get('/:file', (request, reply) => answerFile(reply, fileIn(request.params)))
  app.get('/lib/:file', (request, reply) => answerFile(reply, `lib/${fileIn(request.params)}`))
  app.get('/traffic', (request) => {
    const { after } = readInput('GET /traffic', TrafficQuery, request.query)
    const result = {
      attachedTo: botTraffic?.botId ?? null,
      sinceMs: botTraffic?.sinceMs ?? 0,
      last: botTraffic?.last ?? 0,
      exchanges: botTraffic?.list(after) ?? [],
    }
    return { ok: true, result }
  })
  app.get('/events', async (request, reply) => {
    const after = lastEventId(request)
    const signal = AbortSignal.any([world.live.host.ended, closing.signal, hangUpSignal(reply)])
    await streamLog(reply, { log, after, signal, isWanted: () => true })
  })
  void app.register(
    (scope, _options, done) => {
      addControlRoutes(scope, () => world)
      done()
    },
    { prefix: '/control' },
  )
  return app
}

/** @throws SandboxApiError `not_found` */
async function answerFile(reply: FastifyReply, path: string): Promise<FastifyReply> {
  const file = await readPageFile(path)
  if (file === null) throw apiError('not_found', 'the page has no such file')
  return reply.type(file.type).send(file.content)
}

function fileIn(params: unknown): string {
  return (params as { file: string }).file
}
