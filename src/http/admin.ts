import { hostNames } from '../door.ts'
import type { Log } from '../logger.ts'
import type { Health } from '../observe/health.ts'
import type { Metrics } from '../observe/metrics.ts'
import { createApp } from './app.ts'
import { DOOR_BOUNDS } from './bounds.ts'
import type { DoorBounds } from './bounds.ts'
import { listenAt } from './listen.ts'
import type { Door } from './server.ts'

/** What the admin door is made of. */
export interface AdminDoorParts {
  log: Log
  health: Health
  metrics: Metrics
  /** What `/status` says; no secrets. */
  status: () => Promise<object>
  /** Host names beside the loopback ones: `admin.host` and `listen.allowedHosts`. */
  allowedHosts: Iterable<string>
  /** Only to make tests short. */
  bounds?: Partial<DoorBounds>
}

/** Paths that probes ask for under whatever name they know. */
const PROBES = new Set(['/healthz', '/readyz'])

/**
 * Builds the admin door: `/healthz` while the process serves, `/readyz` while messages flow,
 * `/status`, `/metrics`. It asks for no token, and nothing behind it is secret.
 */
export function buildAdminDoor(parts: AdminDoorParts): Door {
  const { health, metrics } = parts
  const { app, drain } = createApp({
    log: parts.log,
    level: 'debug',
    bounds: { ...DOOR_BOUNDS, ...parts.bounds },
    hosts: hostNames(parts.allowedHosts),
    anyHost: PROBES,
    authorize: () => {},
    onAnswered: () => {},
  })
  app.get('/healthz', () => ({ ok: true }))
  app.get('/readyz', (_request, reply) => {
    const reasons = health.reasons().map(({ sinceMs, ...reason }) => {
      return { ...reason, since: new Date(sinceMs).toISOString() }
    })
    return reply.code(health.ready ? 200 : 503).send({ ready: health.ready, reasons })
  })
  app.get('/status', () => parts.status())
  app.get('/metrics', async (_request, reply) => {
    return reply.header('content-type', metrics.contentType).send(await metrics.text())
  })
  return { listen: (at) => listenAt(app, at), drain }
}
