/**
 * The one place where the sidecar is assembled and disposed of: `wiring/` builds its parts,
 * then `wiring/subscriptions.ts` connects their listeners.
 */
import type { Secrets, Settings } from './config/settings.ts'
import type { CheckLine } from './operators/doctor/check-line.ts'
import { OperatorError } from './errors.ts'
import type { Log } from './logger.ts'
import type { Health } from './observe/health.ts'
import type { Several, SeveralOptions } from './wiring/several/several.ts'
import type { HandedInParts, Link } from './wiring/link.ts'
import { nextTurn } from './util/scheduling.ts'
import { beginOpening, type Purpose } from './wiring/stores.ts'

export type { Several } from './wiring/several/several.ts'
export { moveStore, restoreBackup, verifyBackup } from './wiring/stores.ts'
export type { BackupReport, MoveReport } from './wiring/stores.ts'

/** The sidecar; disposing it drains. */
export type Sidecar = Awaited<ReturnType<typeof createSidecar>>

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
export async function createSidecar(options: SidecarOptions) {
  await using stack = new AsyncDisposableStack()
  const opening = beginOpening(options, stack)
  // to load the rest keeps this thread busy: the passphrase is stretched meanwhile
  await nextTurn()
  // Not for commands that find no sidecar: they need neither doors nor the bot's updates.
  const { createBot } = await import('./wiring/bot.ts')
  const { createAdminDoor, openDoors } = await import('./wiring/doors.ts')
  const { buildBotDoor } = await import('./http/server.ts')
  const { startControl } = await import('./operators/server.ts')
  const { settings } = options
  const bot = stack.use(await createBot({ ...options, parts: { ...options.parts, opening } }))
  const { operations, link } = bot
  const health: Pick<Health, 'ready' | 'all' | 'onChange'> = link.health
  const doors = {
    bot: buildBotDoor(bot.door),
    admin: createAdminDoor(options, {
      metrics: link.metrics.registry,
      readiness: () => ({ ready: health.ready, reasons: health.all() }),
      status: () => operations.status(),
    }),
  }
  const resources = stack.move()
  return {
    operations,
    /** The state that `/readyz` reports. */
    health,
    /**
     * Opens both doors and the control socket and begins to publish.
     * @param o `hasControl` false leaves out the control socket, where no operator will ask
     * @returns the addresses
     */
    listen: async ({ hasControl = true }: { hasControl?: boolean } = {}) => {
      const addresses = await openDoors(settings, doors)
      if (hasControl) {
        resources.use(await startControl({ ...options, operations, dataDir: settings.dataDir }))
      }
      bot.start()
      return addresses
    },
    [Symbol.asyncDispose]: async () => {
      await bot.stop(async () => {
        await Promise.all([doors.bot.drain(), doors.admin.drain()])
      })
      await resources.disposeAsync()
    },
  }
}

/**
 * Makes a process that serves several bots, without listening yet.
 * @throws OperatorError `data-dir`, `store-unwritable`
 */
export async function createSeveral(options: SeveralOptions): Promise<Several> {
  return await (await import('./wiring/several/several.ts')).createSeveral(options)
}

/**
 * Makes the operations over the store of a sidecar that does not run.
 * @param purpose `begin` makes the store when there is none
 */
export async function createOffline(
  options: ContextOptions,
  purpose: Exclude<Purpose, 'run'> = 'look',
) {
  const { createCore } = await import('./wiring/core.ts')
  const { subscribeCore } = await import('./wiring/subscriptions.ts')
  const operationsOf = await import('./wiring/operations.ts')
  await using stack = new AsyncDisposableStack()
  const link = stack.use(await linkWithoutAlerts(options))
  const core = await createCore(options, link, purpose).catch(storeProblem)
  if (!(core instanceof OperatorError)) {
    stack.use(core)
    stack.use(subscribeCore(core, link, options.log))
  }
  const operations =
    core instanceof OperatorError
      ? operationsOf.buildOperationsWithoutStore(options, link, core)
      : operationsOf.buildOperations(options, { link, core, updates: null })
  const resources = stack.move()
  return {
    operations,
    [Symbol.asyncDispose]: async () => {
      await link[Symbol.asyncDispose]()
      await resources.disposeAsync()
    },
  }
}

/** Checks all that settings configure beside the store, which a running sidecar has open. */
export async function checkSettings(options: ContextOptions): Promise<CheckLine[]> {
  const { checkSettings: examineLink } = await import('./wiring/operations.ts')
  await using link = await linkWithoutAlerts(options)
  return await examineLink(options, link)
}

/** The link of a command, which alerts nobody. */
async function linkWithoutAlerts({ settings, secrets, log }: ContextOptions): Promise<Link> {
  const { createLink } = await import('./wiring/link.ts')
  const { subscribeLink } = await import('./wiring/subscriptions.ts')
  const link = createLink(settings, secrets, { log, ways: [] })
  subscribeLink(link)
  return link
}

/** @returns why no store opens; the doctor still runs its checks. @throws any other error */
function storeProblem(error: unknown): OperatorError {
  if (error instanceof OperatorError && /^(store|data-dir)/.test(error.code)) return error
  throw error
}
