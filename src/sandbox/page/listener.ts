import type { FastifyInstance, FastifyReply } from 'fastify'
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
  const attachedTo = ({ name }: ControlledWorld): Attached =>
    name === MAIN ? { botTraffic, sidecar } : { botTraffic: null, sidecar: null }
  const app = createListener({
    ...access,
    browsers: 'own-page',
    bodyLimit: CONTROL_BODY_BYTES,
    rewriteUrl,
  })
  const closing = new AbortController()
  app.addHook('preClose', async () => closing.abort())
  const logs = new WeakMap<ControlledWorld, ReturnType<typeof createPageLog>>()
  const logOf = (world: ControlledWorld) => {
    const { botTraffic: traffic } = attachedTo(world)
    const log = logs.get(world) ?? createPageLog(world.live, traffic, closing.signal)
    logs.set(world, log)
    return log
  }
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(HEADERS)
    logOf(worldOf(request))
  })
  app.get('/', (_request, reply) => answerFile(reply, 'index.html'))
  app.get('/:file', (request, reply) => answerFile(reply, fileIn(request.params)))
  app.get('/lib/:file', (request, reply) => answerFile(reply, `lib/${fileIn(request.params)}`))
  app.get('/fault-kinds', () => ({ ok: true, result: { kinds: FAULTS, routes: FAULT_ROUTES } }))
  app.get('/traffic', (request) => {
    const { after } = readInput('GET /traffic', TrafficQuery, request.query)
    const traffic = attachedTo(worldOf(request)).botTraffic
    const result = {
      attachedTo: traffic?.botId ?? null,
      sinceMs: traffic?.sinceMs ?? 0,
      last: traffic?.last ?? 0,
      exchanges: traffic?.list(after) ?? [],
    }
    return { ok: true, result }
  })
  app.get('/events', async (request, reply) => {
    const world = worldOf(request)
    const after = lastEventId(request)
    const signal = AbortSignal.any([world.live.host.ended, closing.signal, hangUpSignal(reply)])
    await streamLog(reply, { log: logOf(world), after, signal, isWanted: () => true })
  })
  addSidecarRoutes(app, { worldOf, attachedTo })
  void app.register(async (scope) => addControlRoutes(scope, worldOf), { prefix: '/control' })
  return app
}

/** @throws SandboxApiError `not_found` */
async function answerFile(reply: FastifyReply, path: string): Promise<FastifyReply> {
  const file = await readPageFile(path)
  if (file === null) throw apiError('not_found', 'the page has no such file')
  return reply.type(file.type).send(file.content)
}

const fileIn = (params: unknown): string => (params as { file: string }).file
