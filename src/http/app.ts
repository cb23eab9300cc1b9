import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import { setTimeout as elapsed } from 'node:timers/promises'
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { Refusal, ServiceError } from '../errors.ts'
import type { Log } from '../logger.ts'
import { hostNames, NO_SCHEMAS } from '../util/local-door.ts'
import { batchPerTick, noteCalls } from '../util/scheduling.ts'
import { mayBeLong, takeOnlyJson } from './body.ts'
import { createBoundedServer } from './bounded-server.ts'
import { DOOR_BOUNDS, type DoorBounds } from './bounds.ts'
import type { DoorTls } from './door-tls.ts'
import { Connections } from './connections.ts'
import { answerFor, isUnforeseen, REQUEST_ID, traceOf } from './error-handler.ts'
import type { BotExchange } from '../api/envelope.ts'
import { observeExchanges, turnedAway } from './exchange.ts'
import { checkRequest, requireRouted, type AdmissionOptions } from './admission.ts'
import { isGone, writeAnswer } from './relay.ts'
import { countRepeated, traceParentOf, type RequestLine } from './request-log.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Error code of the answer, for log and metrics. */
    failedWith: string | undefined
    /** The trace that the request is a part of, where traces are recorded. */
    traceId: string | undefined
  }
}

/** The parts of every door. */
export interface DoorParts {
  log: Log
  /** Host names beside the loopback ones. */
  allowedHosts: Iterable<string>
  /** TLS of the listener; absent: plain HTTP. */
  tls?: DoorTls | undefined
  /** Called with each request once it is answered. */
  onAnswered: (line: RequestLine) => void
  /** Called with all that passes here, words and all; for development alone. */
  onExchange?: ((exchange: BotExchange) => void) | undefined
  /** Only to make tests short. */
  bounds?: Partial<DoorBounds>
}

/** The options of a listener. */
export interface AppOptions extends DoorParts, Pick<AdmissionOptions, 'authorize'> {
  level: 'info' | 'debug'
  anyHost?: AdmissionOptions['anyHost']
  /**
   * Chooses the routes for a request, once earlier ones of its connection are answered: routes
   * elsewhere, or those here.
   */
  routesFor?: (request: IncomingMessage, here: RequestListener) => RequestListener
}

/** An application that is not listening yet. */
export interface App {
  app: FastifyInstance
  /** Answers requests that another server received and checked. */
  answer: RequestListener
  /** Aborts when the door is being closed. */
  stopping: AbortSignal
  /** Accepts no further requests, and ends those under way within `bounds.drainMs`. */
  drain: () => Promise<void>
}

type CompleteOptions = ReturnType<typeof complete>

const complete = (options: AppOptions) => ({
  anyHost: new Set<string>(),
  ...options,
  bounds: { ...DOOR_BOUNDS, ...options.bounds },
  hosts: hostNames(options.allowedHosts),
})

/** Builds a door with all its checks, and no route. */
export function createApp(given: AppOptions): App {
  const options = complete(given)
  const { bounds, routesFor } = options
  const connections = new Connections(bounds)
  const report = reporter(options)
  const serve = (answer: RequestListener): Server =>
    createBoundedServer(
      {
        bounds,
        connections,
        tls: options.tls,
        onTlsProblem: ({ problem, isClosed }) => {
          if (isClosed) options.log.error({ problem }, 'the door refuses every connection')
          else options.log.warn({ problem }, 'the door keeps its former certificate')
        },
        check: (request) => {
          const refusal = checkRequest(request, options)
          if (refusal !== null) options.onExchange?.(turnedAway(request, refusal))
          return refusal
        },
        onTurnedAway: (method, { status, code }) => {
          const requestId = randomUUID()
          report({ requestId, method, route: 'none', status, code, ms: 0 })
          return requestId
        },
      },
      routesFor === undefined
        ? answer
        : (request, response) =>
            onTurn(response, () => routesFor(request, answer)(request, response)),
    )
  const routes = createRoutes(options, report, serve)
  routes.stopping.addEventListener('abort', () => connections.stop())
  return {
    ...routes,
    drain: async () => {
      const force = setTimeout(() => connections.closeAll(), bounds.drainMs)
      await routes.app.close()
      await connections.allClosed()
      clearTimeout(force)
    },
  }
}

/**
 * Waits until earlier requests of the same connection are answered: pipelined requests need no more
 * room than one.
 */
function onTurn(response: ServerResponse, answer: () => void): void {
  if (response.socket === null) response.once('socket', answer)
  else answer()
}

/**
 * Builds routes behind a door: the door checks the request line and the headers, the routes check
 * all else.
 */
export function createAppBehind(given: AppOptions): App {
  const options = complete(given)
  const underWay = new Set<ServerResponse>()
  const routes = createRoutes(options, reporter(options), () => createServer())
  return {
    ...routes,
    answer: (request, response) => {
      underWay.add(response)
      response.once('close', () => underWay.delete(response))
      routes.answer(request, response)
    },
    drain: async () => {
      await routes.app.close()
      const ended = Promise.all([...underWay].map((response) => once(response, 'close')))
      await Promise.race([ended, elapsed(options.bounds.drainMs, undefined, { ref: false })])
      for (const response of underWay) response.destroy()
    },
  }
}

/** An error code fit for a log or a label. */
const CODE = /^[a-z][a-z0-9_]{0,63}$/

type Report = (line: RequestLine) => void

function reporter({ log, level, onAnswered }: AppOptions): Report {
  const linesFor = countRepeated(() => performance.now())
  return batchPerTick((line: RequestLine) => {
    // probes are no work
    if (level === 'info') noteCalls()
    for (const one of linesFor(line)) log[level](one, 'request')
    onAnswered(line)
  })
}

function createRoutes(
  options: CompleteOptions,
  report: Report,
  serve: (routes: RequestListener) => Server,
): Omit<App, 'drain'> {
  const { bounds } = options
  const stopping = new AbortController()
  let answer: RequestListener = () => {}
  const app = fastify({
    serverFactory: (routes) => {
      answer = routes
      return serve(routes)
    },
    // The server above has its own; fastify's would answer a second time.
    clientErrorHandler: () => {},
    schemaController: NO_SCHEMAS,
    logger: false,
    trustProxy: false,
    exposeHeadRoutes: false,
    // Fastify's 503 has no envelope; requests that still arrive are answered like the rest.
    return503OnClosing: false,
    bodyLimit: bounds.bodyBytes,
    genReqId: () => randomUUID(),
    routerOptions: { maxParamLength: bounds.pathChars },
  })
  app.decorateRequest('failedWith', undefined)
  app.decorateRequest('traceId', undefined)
  app.decorateRequest('client', null)
  app.decorateRequest('stillMay', null)
  if (options.onExchange !== undefined) observeExchanges(app, options.onExchange)
  takeOnlyJson(app)
  app.addHook('onRequest', (request, reply, done) => {
    seeThrough(request, reply, { answerMs: bounds.answerMs, report })
    requireRouted(request, options)
    if (request.headers.expect !== undefined) reply.raw.writeContinue()
    done()
  })
  app.addHook('preClose', (done) => {
    stopping.abort()
    done()
  })
  app.setErrorHandler((error, request, reply) => {
    fail(error, request, reply, options)
  })
  app.setNotFoundHandler(() => {
    throw new Refusal('not_found', 'no such path')
  })
  return {
    app,
    answer: (request, response) => answer(request, response),
    stopping: stopping.signal,
  }
}

/**
 * Logs a request once its response has ended or its caller is gone, and ends one without an answer:
 * the last resort, since every handler has shorter time limits.
 */
function seeThrough(
  request: FastifyRequest,
  reply: FastifyReply,
  { answerMs, report }: { answerMs: number; report: Report },
): void {
  const startMs = performance.now()
  const timer = setTimeout(() => {
    if (!reply.sent) void reply.send(new Refusal('postern_upstream_timeout'))
  }, answerMs)
  reply.raw.on('close', () => {
    clearTimeout(timer)
    const { id, method, failedWith, routeOptions, client } = request
    const line: RequestLine = {
      requestId: id,
      method,
      route: routeOptions.url ?? 'none',
      status: reply.raw.writableFinished ? reply.statusCode : 0,
      ms: Math.round(performance.now() - startMs),
    }
    if (client !== null) line.client = client.name
    const traceId = request.traceId ?? traceParentOf(request.headers)?.traceId
    if (traceId !== undefined) line.traceId = traceId
    // The service may send any text: a code that fits no label is not logged.
    if (failedWith !== undefined) line.code = CODE.test(failedWith) ? failedWith : 'other'
    report(line)
  })
}

function fail(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { log, bounds }: CompleteOptions,
): void {
  if (isUnforeseen(error)) {
    log.error({ requestId: request.id, ...traceOf(error) }, 'a call failed unexpectedly')
  }
  if (isGone(reply) || reply.raw.headersSent) {
    reply.hijack()
    return
  }
  // A rest that may be long is not waited for; a short one is read and forgotten by Node.
  if (!request.raw.complete && mayBeLong(request.raw, bounds.bodyBytes)) {
    reply.raw.setHeader('connection', 'close')
  }
  // A refusal of the service is relayed unchanged, and the log has its code.
  if (!(error instanceof ServiceError)) reply.raw.setHeader(REQUEST_ID, request.id)
  writeAnswer(reply, answerFor(error))
}
