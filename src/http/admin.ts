import type { FastifyRequest, RouteHandlerMethod } from 'fastify'
import { Refusal } from '../errors.ts'
import { createApp, type DoorParts } from './app.ts'
import { listenAt } from './listen.ts'
import { queryOf } from './params.ts'
import type { Door } from './server.ts'

/** Whether something does its job, and why not. */
export interface Readiness {
  ready: boolean
  reasons: readonly { sinceMs: number }[]
}

/** The parts of the admin door. `allowedHosts` are for all but probes: `admin.allowedHosts`, `admin.host`. */
export interface AdminDoorParts extends Pick<DoorParts, 'log' | 'allowedHosts' | 'bounds'> {
  metrics: { readonly contentType: string; text(): Promise<string> }
  /** @param bot the one that the query names; @returns null when there is none of that name */
  readiness: (bot: string | null) => Readiness | null
  /** The content of `/status`; no secrets. @param bot as above; @returns as above */
  status: (bot: string | null) => Promise<object> | null
}

/** The answers of the door, as listed by `/`. */
const PATHS = {
  '/healthz': '200 while the process serves',
  '/readyz': '200 while nothing keeps the sidecar from its job, else 503; with every reason',
  '/status': 'what `postern status` shows, as JSON',
  '/metrics': 'metrics in the text format of Prometheus',
}
/** Paths that accept any Host, for probes. */
const PROBES = new Set(['/healthz', '/healthz/', '/readyz', '/readyz/'])

/**
 * Builds the admin door: `/healthz` while the process serves, `/readyz` while messages flow,
 * `/status`, `/metrics`, and `/`, which lists them. It asks for no token, and nothing behind it is
 * secret.
 */
export function buildAdminDoor(parts: AdminDoorParts): Door {
  const { metrics } = parts
  const { app, drain } = createApp({
    ...parts,
    level: 'debug',
    anyHost: PROBES,
    authorize: () => null,
    onAnswered: () => {},
  })
  // probes often ask by HEAD (`wget --spider`), and with a slash at the end
  const get = (path: string, handler: RouteHandlerMethod): void => {
    const urls = path === '/' ? [path] : [path, `${path}/`]
    for (const url of urls) app.route({ method: ['GET', 'HEAD'], url, handler })
  }
  get('/', async () => ({ paths: PATHS }))
  get('/healthz', async () => ({ ok: true }))
  get('/readyz', (request, reply) => {
    const { ready, reasons } = found(parts.readiness(botIn(request)))
    const dated = reasons.map(({ sinceMs, ...reason }) => {
      return { ...reason, since: new Date(sinceMs).toISOString() }
    })
    return reply.code(ready ? 200 : 503).send({ ready, reasons: dated })
  })
  get('/status', (request) => found(parts.status(botIn(request))))
  get('/metrics', async (_request, reply) => {
    return reply.header('content-type', metrics.contentType).send(await metrics.text())
  })
  return { listen: (at) => listenAt(app, at), drain }
}

function botIn(request: FastifyRequest): string | null {
  const [name = null, ...more] = new URLSearchParams(queryOf(request)).getAll('bot')
  if (more.length > 0) throw new Refusal('bad_request', 'bot: given twice')
  return name
}

function found<T>(answer: T | null): T {
  if (answer === null) throw new Refusal('not_found', 'there is no bot of that name')
  return answer
}
