import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { apiError } from '../api-error.ts'
import { hangUpSignal } from '../http/response.ts'
import { createListener, noSuchWorld, worldRouting } from '../http/listener.ts'
import type { WorldFinder, ListenerAccess } from '../http/listener.ts'
import { streamEvents } from './event-stream.ts'
import type { WorldDescription } from './hosting.ts'
import { readInput } from './input.ts'
import type { AnyControlOperation, ControlContext } from './operation.ts'
import { ALL_OPERATIONS, runOperation, type OperationName } from './table.ts'

/** A world as these routes need it. */
export interface ControlledWorld {
  name: string
  live: ControlContext
}

type OnOperation = { Params: { operation: string } }

const HEALTH_PATHS = ['/healthz', '/healthz/']
const NO_SUCH_OPERATION = 'no such operation; `GET /` lists them'
/** Greatest body: a file of 64 MiB in base64, and what goes with it. */
export const CONTROL_BODY_BYTES = 96 * 1024 * 1024

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
    bodyLimit: CONTROL_BODY_BYTES,
    rewriteUrl,
    probePaths: HEALTH_PATHS,
  })
  app.addHook('onRequest', async (request) => void worldOf(request))
  const handler = () => ({ ok: true, result: { healthy: true } })
  for (const url of HEALTH_PATHS) app.route({ method: ['GET', 'HEAD'], url, handler })
  addControlRoutes(app, worldOf)
  return app
}

/**
 * Adds the routes of the control: `POST /<operation>` with its input as JSON gives
 * `{ok: true, result}`; `GET /` lists every operation with what it does and the JSON Schema of its
 * input; `GET /openapi.json` describes them all, `GET /bot-openapi.json` the service; `GET /events`
 * streams what happens.
 * @param worldOf the world that a request is for; throws when there is none
 */
export function addControlRoutes(
  app: FastifyInstance,
  worldOf: (request: FastifyRequest) => ControlledWorld,
): void {
  const operations: ReadonlyMap<string, AnyControlOperation> = new Map(ALL_OPERATIONS)
  app.get('/', () => ({ ok: true, result: describe() }))
  app.get('/events', (request, reply) => streamEvents(worldOf(request).live, request, reply))
  app.get('/openapi.json', (request) => {
    const { path } = addressesOf(worldOf(request))
    const url = `${request.protocol}://${request.host}${path}`
    return import('../openapi/control.ts').then(({ controlDocument }) => controlDocument(url))
  })
  app.get('/bot-openapi.json', (request) => {
    const { url } = addressesOf(worldOf(request))
    return import('../openapi/bot.ts').then(({ botDocument }) => botDocument(url))
  })
  app.post<OnOperation>('/:operation', async (request, reply) => {
    const name = request.params.operation
    const operation = operations.get(name)
    if (operation === undefined) throw apiError('not_found', NO_SUCH_OPERATION)
    const on = { ...worldOf(request).live, hangUp: hangUpSignal(reply) }
    const given = readInput(name, operation.input, request.body ?? {})
    return { ok: true, result: await runOperation(on, name as OperationName, given) }
  })
  app.get<OnOperation>('/:operation', ({ params: { operation } }) => {
    const isOperation = operations.has(operation)
    throw apiError('not_found', isOperation ? `call ${operation} with POST` : NO_SUCH_OPERATION)
  })
}

/** Where a world is served. @throws SandboxApiError when it has just ended */
export function addressesOf({ name, live }: ControlledWorld): WorldDescription {
  const found = live.worlds.list().find((one) => one.name === name)
  if (found === undefined) throw noSuchWorld()
  return found
}

/** By name: what each operation does, and its input as JSON Schema. */
function describe(): Record<string, object> {
  const described = ALL_OPERATIONS.map(([name, { description, input }]) => {
    const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input' })
    return [name, { description, ...schema }]
  })
  return Object.fromEntries(described) as Record<string, object>
}
