import type { FastifyInstance } from 'fastify'
import type { IncomingMessage } from 'node:http'
import { valuesOf } from '../door.ts'
import { Refusal } from '../errors.ts'
import { parseBody } from '../json.ts'

const JSON_TYPE = /^application\/json(?:[ \t]*;[ \t]*charset="?utf-8"?)?$/i

/**
 * What is wrong with a request's body as far as its headers tell: only JSON, never encoded, never
 * on a GET or HEAD, never over the limit (DESIGN, The local doors).
 * @returns null when there is no body or it may be read
 */
export function bodyProblem(request: IncomingMessage, maxBytes: number): Refusal | null {
  const { headers, rawHeaders, method } = request
  const declared = Number(headers['content-length'] ?? 0)
  const hasBody = headers['transfer-encoding'] !== undefined || declared > 0
  if (method === 'GET' || method === 'HEAD') {
    return hasBody ? new Refusal('bad_request', `a ${method} carries no body`) : null
  }
  if (
    valuesOf(rawHeaders, 'content-encoding').some((value) => value.toLowerCase() !== 'identity')
  ) {
    return unsupported('Content-Encoding: only identity is taken')
  }
  const [type, ...more] = valuesOf(rawHeaders, 'content-type')
  const isJson = type === undefined ? !hasBody : JSON_TYPE.test(type)
  if (!isJson || more.length > 0) return unsupported('Content-Type: must be application/json')
  if (declared > maxBytes) return new Refusal('too_large', `the body is over ${maxBytes} bytes`)
  return null
}

/** True for a body over the limit or of unknown length. */
export function mayBeLong({ headers }: IncomingMessage, maxBytes: number): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > maxBytes
}

/** Makes JSON, read by our own rules, the only body that `app` takes; an empty one is none. */
export function takeOnlyJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      const bytes = Buffer.from(body)
      done(null, bytes.length === 0 ? undefined : parseBody(bytes))
    } catch (error) {
      done(error instanceof Error ? error : new Refusal('internal'))
    }
  })
}

function unsupported(detail: string): Refusal {
  return new Refusal('bad_request', detail, { status: 415 })
}
