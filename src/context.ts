/**
 * The one place where the sidecar is put together and taken apart: `wiring/` builds its parts,
 * then `wiring/subscriptions.ts` lets them listen to each other.
 */
import type { Secrets, Settings } from './config/settings.ts'
import type { Operations } from './control/operations.ts'
import { OperatorError } from './errors.ts'
import type { Log } from './logger.ts'
import { alertWays } from './wiring/alerting.ts'
import { createCore, type Purpose } from './wiring/core.ts'
import { createLink } from './wiring/link.ts'
import { buildOperations, buildOperationsWithoutStore } from './wiring/operations.ts'
import type { HandedInParts } from './wiring/parts.ts'
import { createProbes } from './wiring/probes.ts'
import {
  botDoorEvents,
  subscribeCore,
  subscribeLink,
  subscribeUpdates,
} from './wiring/subscriptions.ts'

export { restoreBackup, verifyBackup, type BackupReport } from './wiring/backups.ts'
export { createLink, type Link } from './wiring/link.ts'
export type { HandedInParts } from './wiring/parts.ts'

/** Everything but the doors: what commands need when no sidecar runs. */
export interface Offline extends AsyncDisposable {
  operations: Operations
}

/** The sidecar; disposing it drains. */
export interface Sidecar extends Offline {
  /** Opens both doors and the control socket and begins to publish. @returns the addresses */
  listen(): Promise<{ bot: string; admin: string }>
}

export interface ContextOptions {
  settings: Settings
  secrets: Secrets
  log: Log
  /** XDG_RUNTIME_DIR, for the control socket of a `dataDir` with a long path. */
  runtimeDir?: string | null
}

export interface SidecarOptions extends ContextOptions {
  /** Parts in place of the usual ones, such as a clock of a test or a store that is open already. */
  parts?: HandedInParts
}

/**
 * Makes the sidecar, without listening yet.
 * @throws OperatorError for everything that keeps the store from opening
 */
export async function createSidecar(options: SidecarOptions): Promise<Sidecar> {
  // Not for commands that find no sidecar: they need neither doors nor the bot's updates.
  const { buildDoors, openDoors } = await import('./wiring/doors.ts')
  const { createUpdates } = await import('./wiring/updates.ts')
  const { startControl } = await import('./control/server.ts')
  const { settings, secrets, log, parts = {} } = options
  await using stack = new AsyncDisposableStack()
  const link =
    parts.link ??
    stack.use(createLink(settings, secrets, { log, ways: alertWays(settings, secrets) }))
  subscribeLink(link)
  const core = stack.use(await createCore(options, link, 'run'))
  stack.use(subscribeCore(core, link, log))
  const updates = stack.use(await createUpdates(options, link, core))
  subscribeUpdates(updates, link, options)
  const operations = buildOperations(options, { link, core, updates })
  const events = botDoorEvents(link, core, updates)
  const doors = buildDoors(options, { link, core, updates, operations, events })
  const resources = stack.move()
  return {
    operations,
    listen: async () => {
      const addresses = await openDoors(settings, doors)
      resources.use(await startControl({ ...options, operations, dataDir: settings.dataDir }))
      link.watch.start(createProbes(options, link, core))
      core.publication?.start()
      updates.webhook.start()
      updates.backlog.start()
      return addresses
    },
    [Symbol.asyncDispose]: async () => {
      link.health.set('stopping', '')
      link.watch.stop()
      // While the bot's door is open still: a bot that takes an update may have to answer it.
      await updates[Symbol.asyncDispose]()
      await Promise.all([doors.bot.drain(), doors.admin.drain()])
      // Ends calls of our own, which what is disposed of next may be waiting for.
      if (link !== parts.link) await link[Symbol.asyncDispose]()
      await resources.disposeAsync()
    },
  }
}

/**
 * Makes the operations over the store of a sidecar that does not run.
 * @param purpose `begin` makes the store when there is none
 */
export async function createOffline(
  options: ContextOptions,
  purpose: Exclude<Purpose, 'run'> = 'look',
): Promise<Offline> {
  const { settings, secrets, log } = options
  await using stack = new AsyncDisposableStack()
  const link = stack.use(createLink(settings, secrets, { log, ways: [] }))
  subscribeLink(link)
  const core = await createCore(options, link, purpose).catch(storeProblem)
  if (!(core instanceof OperatorError)) {
    stack.use(core)
    stack.use(subscribeCore(core, link, log))
  }
  const operations =
    core instanceof OperatorError
      ? buildOperationsWithoutStore(options, link, core)
      : buildOperations(options, { link, core, updates: null })
  const resources = stack.move()
  return {
    operations,
    [Symbol.asyncDispose]: async () => {
      await link[Symbol.asyncDispose]()
      await resources.disposeAsync()
    },
  }
}

/** @returns why no store opens; the doctor can look all the same. @throws any other error */
function storeProblem(error: unknown): OperatorError {
  if (error instanceof OperatorError && /^(store|data-dir)/.test(error.code)) return error
  throw error
}
