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
const ignoresBody = ({ method, routeOptions }: FastifyRequest): boolean =>
  method === 'GET' || method === 'HEAD' || routeOptions.config.takesBody === false

/**
 * Refuses a request for its body, judged by its headers: only JSON, never encoded, never over the
 * limit. Of a body that is ignored, only its size counts.
 * @throws Refusal unless there is no body or it may be read
 */
export function requireReadable(request: FastifyRequest, maxBytes: number): void {
  const { headers, rawHeaders } = request.raw
  const declared = Number(headers['content-length'] ?? 0)
  // A body that is ignored may have any type.
  if (ignoresBody(request)) delete headers['content-type']
  else requireJson(rawHeaders, headers['transfer-encoding'] !== undefined || declared > 0)
  if (declared > maxBytes) throw new Refusal('too_large', `the body is over ${maxBytes} bytes`)
}

function requireJson(rawHeaders: readonly string[], hasBody: boolean): void {
  const encodings = valuesOf(rawHeaders, 'content-encoding')
  if (encodings.some((value) => value.toLowerCase() !== 'identity')) {
    throw unsupported('Content-Encoding: only identity is taken')
  }
  const [type, ...more] = valuesOf(rawHeaders, 'content-type')
  const isJson = type === undefined ? !hasBody : JSON_TYPE.test(type)
  if (!isJson || more.length > 0) throw unsupported('Content-Type: must be application/json')
}

/** True for a body over the limit or of unknown length. */
export const mayBeLong = ({ headers }: IncomingMessage, maxBytes: number): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > maxBytes

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
