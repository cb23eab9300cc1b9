import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { hangUpSignal } from '../http/hang-up.ts'
import { createListener, type ListenerAccess } from '../http/listener.ts'
import { noSuchWorld, worldRouting, type WorldFinder } from '../http/world-routing.ts'
import { apiError } from '../api-error.ts'
import { streamEvents } from './event-stream.ts'
import type { WorldDescription } from './hosting.ts'
import { readInput } from './input.ts'
import { PhoneError } from '../phone/phone-error.ts'
import { ControlError, type ControlContext } from './operation.ts'
import { ALL_OPERATIONS, runOperation } from './table.ts'

/** A world as this listener needs it. */
interface ControlledWorld {
  name: string
  live: ControlContext
}

const NO_SUCH_OPERATION = 'no such operation; `GET /` lists them'
const HEALTH_PATH = '/healthz'
/** A file of 64 MiB in base64, and what goes with it. */
const BODY_BYTES = 96 * 1024 * 1024

/**
 * The control listener: `POST /<operation>` with its input as JSON gives `{ok: true, result}`;
 * `GET /` lists every operation with what it does and the JSON Schema of its input;
 * `GET /openapi.json` describes them all, `GET /bot-openapi.json` the service; `GET /events` streams
 * what happens; `GET /healthz` answers 200. No token: whoever reaches the loopback address of this
 * machine may play with the sandbox, web pages may not.
 */
export function createControlListener(
  findWorld: WorldFinder<ControlledWorld>,
  access: ListenerAccess,
): FastifyInstance {
  const operations = new Map<string, (typeof ALL_OPERATIONS)[number]>(
    ALL_OPERATIONS.map((entry) => [entry[0], entry]),
  )
  const routing = worldRouting(findWorld)
  const worldOf = (request: FastifyRequest): ControlledWorld => {
    const world = routing.worldOf(request)
    if (world === null) throw noSuchWorld()
    return world
  }
  const app = createListener({
    ...access,
    bodyBytes: BODY_BYTES,
    rewriteUrl: routing.rewriteUrl,
    probePath: HEALTH_PATH,
    refusalOf: (error) =>
      error instanceof ControlError || error instanceof PhoneError
        ? { status: 400, code: error.code, message: error.message }
        : null,
  })
  app.addHook('onRequest', (request, _reply, next) => {
    worldOf(request)
    next()
  })
  app.get('/', () => ({ ok: true, result: describe() }))
  app.route({
    method: ['GET', 'HEAD'],
    url: HEALTH_PATH,
    handler: () => ({ ok: true, result: { healthy: true } }),
  })
  app.route({
    method: 'GET',
    url: '/events',
    handler: (request, reply) => streamEvents(worldOf(request).live, request, reply),
  })
  app.route({
    method: 'GET',
    url: '/openapi.json',
    handler: async (request) => {
      const { path } = addressesOf(worldOf(request))
      const { controlDocument } = await import('../openapi/control.ts')
      return controlDocument(`${request.protocol}://${request.host}${path}`)
    },
  })
  app.route({
    method: 'GET',
    url: '/bot-openapi.json',
    handler: async (request) => {
      const { url } = addressesOf(worldOf(request))
      const { botDocument } = await import('../openapi/bot.ts')
      return botDocument(url)
    },
  })
  app.route<{ Params: { operation: string } }>({
    method: 'POST',
    url: '/:operation',
    handler: async (request, reply) => {
      const operation = operations.get(request.params.operation)
      if (operation === undefined) throw apiError('not_found', NO_SUCH_OPERATION)
      const [name, { input }] = operation
      const on = { ...worldOf(request).live, hangUp: hangUpSignal(reply) }
      const given = readInput(name, input, request.body ?? {})
      return { ok: true, result: await runOperation(on, name, given) }
    },
  })
  app.route<{ Params: { operation: string } }>({
    method: 'GET',
    url: '/:operation',
    handler: ({ params: { operation } }) => {
      const isOperation = operations.has(operation)
      throw apiError('not_found', isOperation ? `call ${operation} with POST` : NO_SUCH_OPERATION)
    },
  })
  return app
}

/** Where a world is served. @throws SandboxApiError when it has just ended */
function addressesOf({ name, live }: ControlledWorld): WorldDescription {
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
