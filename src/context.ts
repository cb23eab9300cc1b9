/** The one place where the sidecar is wired and unwired; `wiring/` holds its two halves. */
import type { Secrets, Settings } from './config/settings.ts'
import { bindOperations, type Operations } from './control/operations.ts'
import { examineAll, type ExaminedStore } from './doctor/examine.ts'
import { OperatorError } from './errors.ts'
import { fingerprintOf } from './keys/publication-status.ts'
import type { Log } from './logger.ts'
import { whatIsThere } from './store/inspect.ts'
import { waysOf } from './wiring/alerting.ts'
import { copiesIn } from './store/inspect.ts'
import { createCore, type Core, type Purpose } from './wiring/core.ts'
import { createLink, type Link } from './wiring/link.ts'
import { openReport } from './wiring/open-report.ts'
import { statusOf } from './wiring/status.ts'
import type { Surroundings, Updates } from './wiring/updates.ts'
import { refusing } from './wiring/without-store.ts'

export { restoreBackup, verifyBackup, type BackupReport } from './wiring/backups.ts'

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
  /** Stand-ins for what surrounds the sidecar; for tests. */
  surroundings?: Surroundings
}

/**
 * Makes the sidecar, without listening yet.
 * @throws OperatorError for everything that keeps the store from opening
 */
export async function createSidecar(options: ContextOptions): Promise<Sidecar> {
  // Not for commands that find no sidecar: they need neither doors nor the bot's updates.
  const { buildDoors, openDoors } = await import('./wiring/doors.ts')
  const { createUpdates } = await import('./wiring/updates.ts')
  const { startControl } = await import('./control/server.ts')
  const { settings, secrets, log } = options
  await using stack = new AsyncDisposableStack()
  const link = stack.use(createLink(settings, secrets, { log, ways: waysOf(settings, secrets) }))
  const core = stack.use(await createCore(options, link, 'run'))
  const updates = stack.use(await createUpdates(options, link, core))
  const offline = offlineOf(options, { link, core, updates })
  const doors = buildDoors(options, { link, core, updates, operations: offline.operations })
  const resources = stack.move()
  return {
    ...offline,
    listen: async () => {
      const addresses = await openDoors(options.settings, doors)
      resources.use(
        await startControl({ ...offline, ...options, dataDir: options.settings.dataDir }),
      )
      link.watch.start()
      core.publication?.start()
      updates.start()
      return addresses
    },
    [Symbol.asyncDispose]: async () => {
      link.health.set('stopping', '')
      // While the bot's door is open still: a bot that takes an update may have to answer it.
      await updates[Symbol.asyncDispose]()
      await Promise.all([doors.bot.drain(), doors.admin.drain()])
      // Ends calls of our own, which what is disposed of next may be waiting for.
      await link[Symbol.asyncDispose]()
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
  const core = await createCore(options, link, purpose).catch(onlyStore)
  const offline =
    core instanceof OperatorError
      ? withoutStore(options, link, core)
      : offlineOf(options, { link, core: stack.use(core), updates: null })
  const resources = stack.move()
  return {
    ...offline,
    [Symbol.asyncDispose]: async () => {
      await link[Symbol.asyncDispose]()
      await resources.disposeAsync()
    },
  }
}

function offlineOf(
  options: ContextOptions,
  parts: { link: Link; core: Core; updates: Updates | null },
): Omit<Offline, symbol> {
  const { link, core } = parts
  const startedAt = new Date().toISOString()
  return {
    operations: bindOperations({
      ...core,
      ...core.peopleState,
      storeCopies: () => copiesIn(options.settings.dataDir),
      publishedKey: async () => fingerprintOf(await link.calls.me()),
      onPrivateReadable: () => link.health.clear('bot-unprotected'),
      status: () => statusOf(options.settings, { ...parts, startedAt }),
      check: () => lookAtAll(options, link, { ...core, ...core.peopleState }),
      open: (armored) => openReport(armored, core),
    }),
  }
}

/** The doctor can look without a store, nothing else can be done. */
function onlyStore(error: unknown): OperatorError {
  if (error instanceof OperatorError && /^(store|data-dir)/.test(error.code)) return error
  throw error
}

function withoutStore(
  options: ContextOptions,
  link: Link,
  problem: OperatorError,
): Omit<Offline, symbol> {
  const never = problem.code === 'store-missing' && whatIsThere(options.settings.dataDir) === 'none'
  const check = () => lookAtAll(options, link, never ? null : problem)
  return { operations: { ...refusing(problem), check } }
}

function lookAtAll(
  options: ContextOptions,
  { calls, limits, watch }: Link,
  store: ExaminedStore | OperatorError | null,
): ReturnType<typeof examineAll> {
  return examineAll(options, { me: calls.me, limits, skewMs: () => watch.skewMs }, store)
}
