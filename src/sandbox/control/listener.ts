import type { FastifyInstance } from 'fastify'
import { createListener, type ListenerAccess } from '../http/listener.ts'
import { worldRouting, type WorldFinder } from '../http/world-routing.ts'
import { addControlRoutes, CONTROL_BODY_BYTES, type ControlledWorld } from './routes.ts'

const HEALTH_PATH = '/healthz'

/**
 * The control listener: the routes of `addControlRoutes`, for every world, and `GET /healthz`,
 * which answers 200. Without a token, every process that can reach the loopback address may control
 * the sandbox; web pages may not.
 */
export function createControlListener(
  findWorld: WorldFinder<ControlledWorld>,
  access: ListenerAccess,
): FastifyInstance {
  const { rewriteUrl, requireWorld: worldOf } = worldRouting(findWorld)
  const app = createListener({
    ...access,
    bodyBytes: CONTROL_BODY_BYTES,
    rewriteUrl,
    probePath: HEALTH_PATH,
  })
  app.addHook('onRequest', (request, _reply, next) => {
    worldOf(request)
    next()
  })
  app.route({
    method: ['GET', 'HEAD'],
    url: HEALTH_PATH,
    handler: () => ({ ok: true, result: { healthy: true } }),
  })
  addControlRoutes(app, worldOf)
  return app
}
