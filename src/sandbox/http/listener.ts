import type { IncomingMessage } from 'node:http'
import Fastify from 'fastify'
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify'
import { browserProblem, doorProblem, NO_SCHEMAS, ownPageProblem } from '../../util/local-door.ts'
import { SandboxApiError, apiError, errorEnvelope, ControlError } from '../api-error.ts'
import { cookieOf, entryPath, hasCookie, isSameText, presentsToken } from './control-token.ts'

const MALFORMED = apiError('bad_request', 'the request is malformed')

/** Who may call a listener. */
export interface ListenerAccess {
  /** Names beside the loopback ones, from `hostNames`. */
  knownHosts: ReadonlySet<string>
  /** What every request must present, but for health probes; nothing when absent or null. */
  token?: string | null
}

interface ListenerOptions extends FastifyServerOptions, ListenerAccess {
  /** Greatest size of a request body, in bytes. */
  bodyLimit: number
  /** Who of browsers may call: nobody, or the page that it serves itself. */
  browsers?: 'none' | 'own-page'
  /** Paths of a health probe, which may use any Host and presents no token. */
  probePaths?: readonly string[]
  /** Whether a request has a body to parse; that of others is ignored. All have, when absent. */
  takesBody?: (request: FastifyRequest) => boolean
  /** Called with every request before anything is checked. */
  onArrival?: (request: FastifyRequest) => void
}

/**
 * A listener with the rules for local listeners (known Host, no web page, no CORS), limits
 * on every time and size, JSON bodies only, and the error envelope for every failure.
 */
export function createListener(options: ListenerOptions): FastifyInstance {
  const { takesBody = () => true, onArrival, ...others } = options
  const { knownHosts, probePaths = [], token = null, browsers = 'none', ...rest } = others
  const judge = browsers === 'none' ? doorProblem : ownPageProblem
  const app = Fastify({
    exposeHeadRoutes: false,
    schemaController: NO_SCHEMAS,
    // We refuse a request without one ourselves, with the error envelope.
    http: { requireHostHeader: false },
    forceCloseConnections: true,
    requestTimeout: 30_000,
    keepAliveTimeout: 65_000,
    // As long as a request line can be: a parameter that is too long is unknown, not malformed.
    routerOptions: { maxParamLength: 16_384 },
    frameworkErrors: (_error, _request, reply) =>
      refuse(reply, apiError('bad_request', 'bad path')),
    clientErrorHandler: (_error, socket) => {
      if (socket.writable) socket.end(MALFORMED_RESPONSE)
    },
    ...rest,
  })
  app.server.maxConnections = 4096
  app.server.headersTimeout = 10_000
  app.addHook('onRequest', (request, reply, next) => {
    onArrival?.(request)
    const { rawHeaders, headers } = request.raw
    // `readJson` judges the type: an empty body, or one that is ignored, may have any.
    delete headers['content-type']
    const isProbe = probePaths.includes(request.url.split('?', 1)[0] ?? '')
    const problem = isProbe ? browserProblem(rawHeaders) : judge(rawHeaders, knownHosts)
    if (problem !== null) {
      const message = problem.code === 'postern_host_refused' ? HOST_REFUSED : problem.message
      return void reply.code(problem.status).send({ ok: false, error: { ...problem, message } })
    }
    if (isProbe || token === null || presentsToken(rawHeaders, token)) return next()
    if (browsers === 'none') return refuse(reply, apiError('unauthorized', TOKEN_MISSING))
    const cookie = cookieOf(token)
    if (hasCookie(rawHeaders, cookie)) return next()
    if (!isEntry(request, token)) return refuse(reply, apiError('unauthorized', TOKEN_MISSING))
    void reply
      .code(303)
      .headers({ location: '/', 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' })
      .header('set-cookie', `${cookie}; Path=/; HttpOnly; SameSite=Strict`)
      .send()
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      const isRead = !request.is404 && takesBody(request)
      done(null, isRead ? readJson(body as Buffer, typeOf(request)) : undefined)
    } catch (error) {
      done(error as Error)
    }
  })
  app.setErrorHandler((error, _request, reply) => refuse(reply, toApiError(error)))
  app.setNotFoundHandler((_request, reply) => refuse(reply, apiError('not_found', 'no such path')))
  return app
}

const HOST_REFUSED =
  'the Host header names an unknown host; call the sandbox by localhost, or start it with ' +
  '--allowed-host and this name (`allowedHosts` of createSandbox)'

/** Whether a person opens the address that a page's sandbox prints. */
const isEntry = ({ method, url }: FastifyRequest, token: string): boolean =>
  method === 'GET' && isSameText(url, entryPath(token))

const TOKEN_MISSING =
  'the token is missing or wrong; the `controlUrl` and the address of the page that the sandbox ' +
  'prints hold it, and `Authorization: Bearer` takes it'

function refuse(reply: FastifyReply, error: SandboxApiError | ControlError): void {
  const { status, headers, body } = errorEnvelope(error)
  void reply.code(status).headers(headers).send(body)
}

/** Turns anything thrown into an API error; `internal` carries no details. */
function toApiError(error: unknown): SandboxApiError | ControlError {
  if (error instanceof SandboxApiError || error instanceof ControlError) return error
  const { statusCode, code } = error as { statusCode?: number; code?: string }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return apiError('too_large', 'the body is over the limit')
  }
  const isCallersFault = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500
  return isCallersFault ? MALFORMED : apiError('internal', 'something went wrong in the sandbox')
}

const MALFORMED_BODY = JSON.stringify(errorEnvelope(MALFORMED).body)
const MALFORMED_RESPONSE =
  'HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\n' +
  `Content-Length: ${Buffer.byteLength(MALFORMED_BODY)}\r\nConnection: close\r\n\r\n${MALFORMED_BODY}`

const typeOf = ({ raw }: FastifyRequest): string => raw.headersDistinct['content-type']?.[0] ?? ''

const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset="?utf-8"?[ \t]*)?$/i

/**
 * Reads a request body. Gives undefined when it is empty.
 * @throws SandboxApiError `bad_request`: another content type, not UTF-8, or not JSON
 */
function readJson(body: Buffer, type: string): unknown {
  if (body.length === 0) return undefined
  if (!JSON_TYPE.test(type)) {
    throw apiError('bad_request', 'Content-Type: must be application/json')
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body))
  } catch {
    throw apiError('bad_request', 'the body is not JSON')
  }
}

/** Finds the world that a path, with its query, is for, and the path below it. */
export type WorldFinder<W> = (url: string) => { world: W | null; path: string }

export const noSuchWorld = (): SandboxApiError =>
  apiError('not_found', 'no such world; `worlds` of the control lists them')

/** Lets a listener route by the paths below each world's own. */
export function worldRouting<W>(find: WorldFinder<W>) {
  const found = new WeakMap<object, W>()
  return {
    /** Gives the path below the world's own; for Fastify's option of that name. */
    rewriteUrl: (request: Pick<IncomingMessage, 'url'>): string => {
      const { world, path } = find(request.url ?? '/')
      if (world !== null) found.set(request, world)
      return path
    },
    /** The world of a request as it was found on arrival, or null when there is none of the name. */
    worldOf: ({ raw }: FastifyRequest): W | null => found.get(raw) ?? null,
    /** The same. @throws SandboxApiError `not_found` when there is none */
    requireWorld: ({ raw }: FastifyRequest): W => {
      const world = found.get(raw)
      if (world === undefined) throw noSuchWorld()
      return world
    },
  }
}
