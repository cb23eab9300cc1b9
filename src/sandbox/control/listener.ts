import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { createListener } from '../http/listener.ts'
import { apiError } from '../api-error.ts'
import { ControlError } from './operation.ts'
import { ALL_OPERATIONS, type Control } from './table.ts'

/** A file of 64 MiB in base64, and what goes with it. */
const BODY_BYTES = 96 * 1024 * 1024

/**
 * The control listener: `POST /<operation>` with its input as JSON gives `{ok: true, result}`;
 * `GET /` lists every operation with what it does and the JSON Schema of its input. No token:
 * whoever reaches the loopback address of this machine may play with the sandbox, web pages may
 * not.
 */
export function createControlListener(control: Control): FastifyInstance {
  const operations = new Map<string, (typeof ALL_OPERATIONS)[number]>(
    ALL_OPERATIONS.map((entry) => [entry[0], entry]),
  )
  const app = createListener({
    bodyBytes: BODY_BYTES,
    refusalOf: (error) =>
      error instanceof ControlError
        ? { status: 400, code: error.code, message: error.message }
        : null,
  })
  app.get('/', () => ({ ok: true, result: describe() }))
  app.route<{ Params: { operation: string } }>({
    method: 'POST',
    url: '/:operation',
    handler: async (request) => {
      const operation = operations.get(request.params.operation)
      if (operation === undefined) throw apiError('not_found', 'no such operation')
      const [name, { input }] = operation
      const run = control[name] as (given: object) => Promise<unknown>
      return { ok: true, result: await run(read(input, request.body ?? {})) }
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
