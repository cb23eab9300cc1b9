import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify'
import { doorProblem } from '../../door.ts'
import { envelopeOf, no, ServiceNo } from '../failure.ts'
import { readJson } from './body.ts'

const MALFORMED = envelopeOf(no('bad_request', 'the request is malformed')).body

interface ListenerOptions extends FastifyServerOptions {
  /** Greatest request body. */
  bodyBytes: number
  /** Whether a request's body means anything; of others it is not looked at. All, when absent. */
  takesBody?: (request: FastifyRequest) => boolean
  /** Called with every request before anything is judged. */
  arrived?: (request: FastifyRequest) => void
  /** Turns errors of one's own into an error object; null for all others. */
  refusalOf?: (error: unknown) => { status: number; code: string; message: string } | null
}

/**
 * A listener with the door rules of DESIGN (known Host, no web page, no CORS), bounds on every
 * time and size, JSON bodies alone, and the error envelope for whatever goes wrong.
 */
export function createListener(options: ListenerOptions): FastifyInstance {
  const { bodyBytes, takesBody = () => true, arrived, refusalOf = () => null, ...rest } = options
  const app = Fastify({
    bodyLimit: bodyBytes,
    exposeHeadRoutes: false,
    // No route has a schema of Fastify's kind, and its compilers take half of the start.
    schemaController: { compilersFactory: { buildValidator: none, buildSerializer: none } },
    // A request without one is refused by us, in the envelope.
    http: { requireHostHeader: false },
    forceCloseConnections: true,
    requestTimeout: 30_000,
    keepAliveTimeout: 65_000,
    // As long as a request line can be: what is too long names nothing, and is not refused for it.
    routerOptions: { maxParamLength: 16_384 },
    frameworkErrors: (_error, _request, reply) => refuse(reply, no('bad_request', 'bad path')),
    clientErrorHandler: (_error, socket) => {
      if (socket.writable) socket.end(malformed())
    },
    ...rest,
  })
  app.server.maxConnections = 4096
  app.server.headersTimeout = 10_000
  app.addHook('onRequest', (request, reply, next) => {
    arrived?.(request)
    const problem = doorProblem(request.raw.rawHeaders, new Set())
    if (problem === null) next()
    else void reply.code(problem.status).send({ ok: false, error: problem })
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      const isRead = !request.is404 && takesBody(request)
      done(null, isRead ? readJson(body as Buffer, request.headers['content-type']) : undefined)
    } catch (error) {
      done(error as Error)
    }
  })
  app.setErrorHandler((error, _request, reply) => {
    const refusal = refusalOf(error)
    if (refusal === null) refuse(reply, serviceNo(error))
    else void reply.code(refusal.status).send({ ok: false, error: refusal })
  })
  app.setNotFoundHandler((_request, reply) => refuse(reply, no('not_found', 'no such path')))
  return app
}

function none(): never {
  throw new Error('routes have no schemas here')
}

/** Listens on 127.0.0.1. Gives the url, without a slash at its end. */
export async function listen(app: FastifyInstance, port: number): Promise<string> {
  return await app.listen({ host: '127.0.0.1', port })
}

function refuse(reply: FastifyReply, failure: ServiceNo): void {
  const { status, headers, body } = envelopeOf(failure)
  void reply.code(status).headers(headers).send(body)
}

/** One function turns whatever was thrown into a no; an `internal` says nothing. */
function serviceNo(error: unknown): ServiceNo {
  if (error instanceof ServiceNo) return error
  const { statusCode, code } = error as { statusCode?: number; code?: string }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return no('too_large', 'the body is over the limit')
  }
  const theirs = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500
  return theirs
    ? no('bad_request', 'the request is malformed')
    : no('internal', 'something went wrong in the sandbox')
}

function malformed(): string {
  const body = JSON.stringify(MALFORMED)
  return (
    'HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\n' +
    `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`
  )
}
