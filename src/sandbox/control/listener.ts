import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { hangUpSignal } from '../http/hang-up.ts'
import { createListener, type ListenerAccess } from '../http/listener.ts'
import { noSuchWorld, worldRouting, type WorldFinder } from '../http/world-routing.ts'
import { apiError } from '../api-error.ts'
import { streamEvents } from './event-stream.ts'
import { ControlError, type ControlContext } from './operation.ts'
import { ALL_OPERATIONS, runOperation } from './table.ts'

const HEALTH_PATH = '/healthz'
/** A file of 64 MiB in base64, and what goes with it. */
const BODY_BYTES = 96 * 1024 * 1024

/**
 * The control listener: `POST /<operation>` with its input as JSON gives `{ok: true, result}`;
 * `GET /` lists every operation with what it does and the JSON Schema of its input; `GET /events`
 * streams what happens; `GET /healthz` answers 200. No token: whoever reaches the loopback address
 * of this machine may play with the sandbox, web pages may not.
 */
export function createControlListener(
  findWorld: WorldFinder<{ live: ControlContext }>,
  access: ListenerAccess,
): FastifyInstance {
  const operations = new Map<string, (typeof ALL_OPERATIONS)[number]>(
    ALL_OPERATIONS.map((entry) => [entry[0], entry]),
  )
  const routing = worldRouting(findWorld)
  const contextOf = (request: FastifyRequest): ControlContext => {
    const world = routing.worldOf(request)
    if (world === null) throw noSuchWorld()
    return world.live
  }
  const app = createListener({
    ...access,
    bodyBytes: BODY_BYTES,
    rewriteUrl: routing.rewriteUrl,
    probePath: HEALTH_PATH,
    refusalOf: (error) =>
      error instanceof ControlError
        ? { status: 400, code: error.code, message: error.message }
        : null,
  })
  app.get('/', () => ({ ok: true, result: describe() }))
  app.get(HEALTH_PATH, () => ({ ok: true, result: { healthy: true } }))
  app.get('/events', async (request, reply) => {
    await streamEvents(contextOf(request), request, reply)
  })
  app.route<{ Params: { operation: string } }>({
    method: 'POST',
    url: '/:operation',
    handler: async (request, reply) => {
      const operation = operations.get(request.params.operation)
      if (operation === undefined) throw apiError('not_found', 'no such operation')
      const [name, { input }] = operation
      const on = { ...contextOf(request), hangUp: hangUpSignal(reply) }
      return { ok: true, result: await runOperation(on, name, read(input, request.body ?? {})) }
    },
  })
  return app
}

/** @throws ControlError with everything that is wrong */
function read(input: z.ZodObject, body: unknown): object {
  const parsed = input.safeParse(body)
  if (parsed.success) return parsed.data
  throw new ControlError(z.prettifyError(parsed.error).replaceAll('\n', '; '))
}

/** By name: what each operation does, and its input as JSON Schema. */
function describe(): Record<string, object> {
  const described = ALL_OPERATIONS.map(([name, { description, input }]) => {
    const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input' })
    return [name, { description, ...schema }]
  })
  return Object.fromEntries(described) as Record<string, object>
}
