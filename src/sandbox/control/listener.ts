import type { FastifyInstance, FastifyRequest } from 'fastify'
import { createListener } from '../http/listener.ts'
import { no } from '../failure.ts'
import { ControlError, type AnyOperation, type Backstage } from './operation.ts'
import { ALL_OPERATIONS } from './table.ts'

/** A file of 64 MiB in base64, and what goes with it. */
const BODY_BYTES = 96 * 1024 * 1024

/**
 * The control listener: `POST /<operation>` with its input as JSON gives `{ok: true, result}`;
 * `GET /` lists every operation with the JSON Schema of its input. No token: whoever reaches the
 * loopback address of this machine may play with the sandbox, web pages may not.
 */
export function createControlListener(on: Backstage): FastifyInstance {
  const operations = new Map<string, AnyOperation>(ALL_OPERATIONS)
  const app = createListener({
    bodyBytes: BODY_BYTES,
    refusalOf: (error) =>
      error instanceof ControlError
        ? { status: 400, code: error.code, message: error.message }
        : null,
    ajv: { customOptions: { removeAdditional: false, coerceTypes: false, useDefaults: false } },
  })
  app.get('/', () => ({
    ok: true,
    result: Object.fromEntries(ALL_OPERATIONS.map(([name, { input }]) => [name, input])),
  }))
  app.route<{ Params: { operation: string } }>({
    method: 'POST',
    url: '/:operation',
    handler: async (request) => {
      const operation = operations.get(request.params.operation)
      if (operation === undefined) throw no('not_found', 'no such operation')
      return { ok: true, result: await operation.run(on, inputOf(request, operation)) }
    },
  })
  return app
}

/** Checked against the operation's schema, which is compiled when it is first needed. */
function inputOf(request: FastifyRequest, { input }: AnyOperation): object {
  const body = request.body ?? {}
  if (request.validateInput(body, input)) return body
  const [error] = request.getValidationFunction(input)?.errors ?? []
  const name = error?.params['additionalProperty'] ?? error?.params['missingProperty'] ?? ''
  throw new ControlError(`${error?.instancePath ?? ''} ${error?.message ?? 'wrong'} ${name}`.trim())
}
