import { randomUUID } from 'node:crypto'
import { fastify } from 'fastify'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Refusal, ServiceError } from '../errors.ts'
import type { Log } from '../logger.ts'
import { NO_SCHEMAS } from '../util/no-schemas.ts'
import { batchPerTick } from '../util/batch-per-tick.ts'
import { mayBeLong, takeOnlyJson } from './body.ts'
import { createBoundedServer } from './bounded-server.ts'
import { Connections } from './connections.ts'
import { answerFor, isUnforeseen, REQUEST_ID, traceOf } from './error-handler.ts'
import { checkRequest, checkRouted, type AdmissionOptions } from './admission.ts'
import { isGone, relay } from './relay.ts'
import { logRequest, loggableCode } from './request-log.ts'
import type { RequestLine } from './request-log.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Error code of the answer, for log and metrics. */
    failedWith: string | undefined
  }
}

/** What the listeners share and where they differ. */
export interface AppOptions extends AdmissionOptions {
  log: Log
  level: 'info' | 'debug'
  /** Called with each request once it is answered. */
  onAnswered: (line: RequestLine) => void
}

/** An application that is not listening yet. */
export interface App {
  app: FastifyInstance
  /** Aborts when the door is being closed. */
  stopping: AbortSignal
  /** Takes nothing new, lets what is under way end, and is done within `bounds.drainMs`. */
  drain: () => Promise<void>
}

/** Builds a door with all its checks, and no route. */
export function createApp(options: AppOptions): App {
  const { bounds } = options
  const connections = new Connections(bounds)
  const stopping = new AbortController()
  const report = batchPerTick((line: RequestLine) => {
    logRequest(options.log, options.level, line)
    options.onAnswered(line)
  })
  const app = fastify({
    serverFactory: (routes) =>
      createBoundedServer(
        {
          bounds,
          connections,
          check: (request) => checkRequest(request, options),
          onTurnedAway: (method, { status, code }) => {
            const requestId = randomUUID()
            report({ requestId, method, route: 'none', status, code, ms: 0 })
            return requestId
          },
        },
        routes,
      ),
    // The server above has its own; fastify's would answer a second time.
    clientErrorHandler: () => {},
    schemaController: NO_SCHEMAS,
    logger: false,
    trustProxy: false,
    exposeHeadRoutes: false,
    // Its 503 has no envelope; what still comes in is answered like the rest.
    return503OnClosing: false,
    bodyLimit: bounds.bodyBytes,
    genReqId: () => randomUUID(),
    routerOptions: { maxParamLength: bounds.pathChars },
  })
  app.decorateRequest('failedWith', undefined)
  takeOnlyJson(app)
  app.addHook('onRequest', (request, reply, done) => {
    seeThrough(request, reply, { answerMs: bounds.answerMs, report })
    const refusal = checkRouted(request, options)
    if (refusal === null && request.headers.expect !== undefined) reply.raw.writeContinue()
    done(refusal ?? undefined)
  })
  app.addHook('preClose', (done) => {
    connections.stop()
    stopping.abort()
    done()
  })
  app.setErrorHandler((error, request, reply) => {
    fail(error, request, reply, options)
  })
  app.setNotFoundHandler(() => {
    throw new Refusal('not_found', 'no such path')
  })
  return { app, stopping: stopping.signal, drain: () => drain(app, connections, bounds.drainMs) }
}

/**
 * Reports a request once its answer is out, or its caller gone, and ends it when nobody answers:
 * the last resort, since whoever answers has bounds of his own, well within this one.
 */
function seeThrough(
  request: FastifyRequest,
  reply: FastifyReply,
  { answerMs, report }: { answerMs: number; report: (line: RequestLine) => void },
): void {
  const startMs = performance.now()
  const timer = setTimeout(() => {
    if (!reply.sent) void reply.send(new Refusal('postern_upstream_timeout'))
  }, answerMs)
  reply.raw.on('close', () => {
    clearTimeout(timer)
    const { id, method, failedWith, routeOptions } = request
    const line: RequestLine = {
      requestId: id,
      method,
      route: routeOptions.url ?? 'none',
      status: reply.raw.writableFinished ? reply.statusCode : 0,
      ms: Math.round(performance.now() - startMs),
    }
    if (failedWith !== undefined) line.code = loggableCode(failedWith)
    report(line)
  })
}

function fail(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { log, bounds }: AppOptions,
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
  // The service's own no passes as it came, and the log has its code.
  if (!(error instanceof ServiceError)) reply.raw.setHeader(REQUEST_ID, request.id)
  relay(reply, answerFor(error))
}

async function drain(app: FastifyInstance, connections: Connections, drainMs: number) {
  const force = setTimeout(() => connections.closeAll(), drainMs)
  await app.close()
  await connections.allClosed()
  clearTimeout(force)
}
