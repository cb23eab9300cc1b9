import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { IncomingMessage } from 'node:http'
import { valuesOf } from '../util/local-door.ts'
import { Refusal } from '../errors.ts'
import { parseBody } from '../util/exact-json.ts'

const JSON_TYPE = /^application\/json(?:[ \t]*;[ \t]*charset="?utf-8"?)?$/i

declare module 'fastify' {
  interface FastifyContextConfig {
    /** False: a body is ignored, as the service ignores it. Never read on a GET or HEAD. */
    takesBody?: boolean
  }
}

/** The configuration of a route whose body is ignored. */
export const IGNORES_BODY = { config: { takesBody: false } } as const

/** Whether the spec defines no body for a call: one that is sent is read to its end and dropped. */
function ignoresBody({ method, routeOptions }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD' || routeOptions.config.takesBody === false
}

/**
 * Why a request's body is refused, judged by its headers: only JSON, never encoded, never over the
 * limit (DESIGN, The local doors). Of a body that is ignored, only its size counts.
 * @returns null when there is no body or it may be read
 */
export function bodyProblem(request: FastifyRequest, maxBytes: number): Refusal | null {
  const { headers, rawHeaders } = request.raw
  const declared = Number(headers['content-length'] ?? 0)
  if (ignoresBody(request)) {
    // A body that is ignored may have any type.
    delete headers['content-type']
  } else {
    const hasBody = headers['transfer-encoding'] !== undefined || declared > 0
    const problem = formProblem(rawHeaders, hasBody)
    if (problem !== null) return problem
  }
  return declared > maxBytes ? new Refusal('too_large', `the body is over ${maxBytes} bytes`) : null
}

function formProblem(rawHeaders: readonly string[], hasBody: boolean): Refusal | null {
  if (
    valuesOf(rawHeaders, 'content-encoding').some((value) => value.toLowerCase() !== 'identity')
  ) {
    return unsupported('Content-Encoding: only identity is taken')
  }
  const [type, ...more] = valuesOf(rawHeaders, 'content-type')
  const isJson = type === undefined ? !hasBody : JSON_TYPE.test(type)
  return isJson && more.length === 0 ? null : unsupported('Content-Type: must be application/json')
}

/** True for a body over the limit or of unknown length. */
export function mayBeLong({ headers }: IncomingMessage, maxBytes: number): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > maxBytes
}

/** Makes JSON, read by our own rules, the only body that `app` reads; an empty one is none. */
export function takeOnlyJson(app: FastifyInstance): void {
  for (const method of ['GET', 'HEAD']) {
    app.addHttpMethod(method, { hasBody: true, overrideExisting: true })
  }
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      const bytes = Buffer.from(body)
      done(null, bytes.length === 0 ? undefined : parseBody(bytes))
    } catch (error) {
      done(error instanceof Error ? error : new Refusal('internal'))
    }
  })
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, _body, done) => {
    done(ignoresBody(request) ? null : unsupported('Content-Type: must be application/json'))
  })
}

const unsupported = (detail: string): Refusal => new Refusal('bad_request', detail, { status: 415 })
