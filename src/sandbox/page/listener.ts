import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { apiError } from '../api-error.ts'
import { digits, lastEventId, streamLog } from '../control/event-stream.ts'
import { readInput } from '../control/input.ts'
import { addControlRoutes, CONTROL_BODY_BYTES, type ControlledWorld } from '../control/routes.ts'
import { FAULT_ROUTES, FAULTS } from '../faults/table.ts'
import { hangUpSignal } from '../http/response.ts'
import { createListener, worldRouting } from '../http/listener.ts'
import type { ListenerAccess, WorldFinder } from '../http/listener.ts'
import { MAIN } from '../worlds.ts'
import { readPageFile } from './files.ts'
import { createPageLog } from './page-log.ts'
import { addSidecarRoutes, type Attached } from './sidecar.ts'

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

const NOTHING: Attached = { botTraffic: null, sidecar: null }
const TrafficQuery = z.strictObject({ after: digits('expected a number').optional() })

/**
 * The page's listener, for every world: its files; the control below `/control`; `GET /events`, the
 * events of the control and of the bot's traffic as server-sent events; `GET /traffic?after=`, what
 * passed between the bot and its sidecar; `GET /fault-kinds`; and the status in `addSidecarRoutes`. Those of a world beside
 * the sandbox's own are below `/worlds/<name>/`.
 * @param attached what runs beside the sandbox's own world
 */
export function createPageListener(
  findWorld: WorldFinder<ControlledWorld>,
  { botTraffic, sidecar, ...access }: ListenerAccess & Attached,
): FastifyInstance {
  const { rewriteUrl, requireWorld: worldOf } = worldRouting(findWorld)
  const runningFor = (request: FastifyRequest) => {
    const world = worldOf(request)
    return { world, ...(world.name === MAIN ? { botTraffic, sidecar } : NOTHING) }
  }
  const app = createListener({
    ...access,
    browsers: 'own-page',
    bodyLimit: CONTROL_BODY_BYTES,
    rewriteUrl,
  })
  const closing = new AbortController()
  app.addHook('preClose', async () => closing.abort())
  const logs = new WeakMap<ControlledWorld, ReturnType<typeof createPageLog>>()
  const logOf = (request: FastifyRequest) => {
    const { world, botTraffic: traffic } = runningFor(request)
    const log = logs.get(world) ?? createPageLog(world.live, traffic, closing.signal)
    logs.set(world, log)
    return log
  }
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(HEADERS)
    logOf(request)
  })
  app.get<{ Params: { '*': string } }>('/*', async ({ params }, reply) => {
    const file = await readPageFile(params['*'] || 'index.html')
    if (file === null) throw apiError('not_found', 'the page has no such file')
    return reply.type(file.type).send(file.content)
  })
  app.get('/fault-kinds', () => ({ ok: true, result: { kinds: FAULTS, routes: FAULT_ROUTES } }))
  app.get('/traffic', (request) => {
    const { after } = readInput('GET /traffic', TrafficQuery, request.query)
    const traffic = runningFor(request).botTraffic
    const result = {
      attachedTo: traffic?.botId ?? null,
      sinceMs: traffic?.sinceMs ?? 0,
      last: traffic?.last ?? 0,
      exchanges: traffic?.list(after) ?? [],
    }
    return { ok: true, result }
  })
  app.get('/events', async (request, reply) => {
    const { live } = worldOf(request)
    const after = lastEventId(request)
    const signal = AbortSignal.any([live.host.ended, closing.signal, hangUpSignal(reply)])
    await streamLog(reply, { log: logOf(request), after, signal, isWanted: () => true })
  })
  addSidecarRoutes(app, runningFor)
  void app.register(async (scope) => addControlRoutes(scope, worldOf), { prefix: '/control' })
  return app
}
