import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { IncomingMessage } from 'node:http'
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
 * Refuses a request whose headers declare a body over the limit.
 * @throws Refusal `too_large`
 */
export function requireReadable({ raw: { headers } }: FastifyRequest, maxBytes: number): void {
  // Many clients name a type where they send no body: the parser below judges it once bytes arrive.
  delete headers['content-type']
  if (Number(headers['content-length'] ?? 0) > maxBytes) {
    throw new Refusal('too_large', `the body is over ${maxBytes} bytes`)
  }
}

/** @throws Refusal `bad_request` unless a body is JSON by its headers, and not encoded */
function requireJson({ headersDistinct }: IncomingMessage): void {
  const { 'content-encoding': encodings = [], 'content-type': types = [] } = headersDistinct
  if (encodings.some((value) => !/^(?:identity)?$/i.test(value))) {
    throw new Refusal('bad_request', 'Content-Encoding: only identity is taken')
  }
  if (types.length === 1 && JSON_TYPE.test(String(types))) return
  throw new Refusal('bad_request', 'Content-Type: must be application/json')
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
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      if (body.length === 0 || ignoresBody(request)) return done(null)
      requireJson(request.raw)
      done(null, parseBody(Buffer.from(body)))
    } catch (error) {
      done(error instanceof Error ? error : new Refusal('internal'))
    }
  })
}
