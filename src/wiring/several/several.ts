/** A process that serves several bots: one door, one admin door, one control socket, one engine. */
import type { LoadedBot, LoadedBots } from '../../config/read-several.ts'
import { VERSION } from '../../config/version.ts'
import { BOTS, type BotChanges } from '../../operators/bots.ts'
import type { BotsReport } from '../../operators/reports.ts'
import { startControl } from '../../operators/server.ts'
import type { Readiness } from '../../http/admin.ts'
import { buildSharedDoor } from '../../http/shared-door.ts'
import type { Log } from '../../logger.ts'
import { createAlerts } from '../../observe/alerts.ts'
import { expiryWarnings } from '../../observe/expiry-warning.ts'
import { Metrics, MetricRegistry } from '../../observe/metrics.ts'
import { recordRequest } from '../../observe/record.ts'
import { showLoad, showResources, showWarnings } from '../../observe/show.ts'
import { createWarnings, type Warnings } from '../../observe/warnings.ts'
import { createEngine } from '../../openpgp/index.ts'
import { bindCalls } from '../../util/operation.ts'
import { makeDataDir } from '../../store/data-dir.ts'
import { sharedTimers } from '../../util/shared-timers.ts'
import { sharedStretcher } from '../../store/stretcher.ts'
import { alertWays } from '../../observe/alerting.ts'
import { connectDatabase } from '../stores.ts'
import { botHosts, createAdminDoor, doorTls, openDoors, type Doors } from '../doors.ts'
import { createHostedBots, type HostedBots } from './hosted-bots.ts'
import { readMachine } from '../probes.ts'
import type { HandedInParts } from '../link.ts'
import { subscribeEngine } from '../subscriptions.ts'

/** How often disk and memory are measured. */
const LOOK_MS = 10_000

export interface SeveralOptions {
  loaded: LoadedBots
  /** Of the process. */
  log: Log
  /** Makes the log of one bot. */
  logOf: (bot: LoadedBot) => Log
  /** Reads the settings again. @throws OperatorError `settings` */
  load: () => LoadedBots
  /** XDG_RUNTIME_DIR, for the control socket of a `dataDir` with a long path. */
  runtimeDir?: string | null
  parts?: Pick<HandedInParts, 'clock' | 'resolveHost' | 'engine'>
}

/** Several bots; disposing drains them. */
export type Several = Awaited<ReturnType<typeof createSeveral>>

/**
 * Makes them, without listening yet.
 * @throws OperatorError `data-dir`, `store-unwritable`, `settings` when `store.url` is wrong
 */
export async function createSeveral(options: SeveralOptions) {
  const { loaded, log, logOf, parts = {} } = options
  const { settings } = loaded
  const { dataDir } = settings
  makeDataDir(dataDir)
  await using stack = new AsyncDisposableStack()
  const registry = new MetricRegistry({ isOfSeveral: true })
  const metrics = new Metrics(registry)
  const engine = parts.engine ?? stack.use(createEngine(settings.openpgp))
  subscribeEngine(engine, metrics, log)
  showLoad(metrics, {
    threads: () => engine.load().threads,
    connections: () => ({}),
    caches: () => ({ certificates: engine.load().certificates ?? { hits: 0, misses: 0 } }),
  })
  const machine = stack.use(watchMachine(options, metrics))
  const { storeUrl } = loaded.secrets
  const database =
    storeUrl === undefined
      ? null
      : stack.use(await connectDatabase(storeUrl, { ...settings.store, isOfSeveral: true }))
  const bots = stack.use(
    createHostedBots({
      log,
      logOf,
      engine,
      registry,
      parts: { ...parts, database, stretcher: sharedStretcher(dataDir), later: sharedTimers() },
    }),
  )
  const state = createState(options, bots, machine.warnings)
  const doors = createDoors(options, bots, { metrics, state })
  let { folder } = loaded
  const reload = async (): Promise<BotChanges> => {
    const again = options.load()
    const changes = await bots.set(again.bots)
    ;({ folder } = again)
    log.info(changes, 'the settings were read again')
    return changes
  }
  const { report } = state
  const operations = {
    all: bindCalls(BOTS, { report, folder: () => folder, reload }),
    of: (bot: string | null) => bots.named(bot).operations(),
  }
  const resources = stack.move()
  return {
    report,
    /**
     * Reads the settings again, and serves the bots that they name now.
     * @throws OperatorError `settings`: everything goes on as it was
     */
    reload,
    /** Opens the doors and the control socket and begins to start the bots. @returns the addresses */
    listen: async () => {
      const { runtimeDir = null } = options
      // First: it refuses where another sidecar runs on the data directory.
      resources.use(await startControl({ dataDir, log, runtimeDir, operations }))
      const addresses = await openDoors(settings, doors)
      await bots.set(loaded.bots)
      return addresses
    },
    [Symbol.asyncDispose]: async () => {
      state.stop()
      // While the door is still open: a bot that receives an update may have to answer it.
      await bots[Symbol.asyncDispose]()
      await Promise.all([doors.bot.drain(), doors.admin.drain()])
      await resources.disposeAsync()
    },
  }
}

/** Whether the process is ready, and its report of the bots. */
function createState({ loaded }: SeveralOptions, bots: HostedBots, warnings: Warnings) {
  const { readyWhen } = loaded.settings.admin
  const startedAt = new Date().toISOString()
  let isStopping = false
  const isReady = (): boolean => {
    if (isStopping) return false
    const all = bots.report()
    return readyWhen === 'any' ? all.some(({ ready }) => ready) : all.every(({ ready }) => ready)
  }
  return {
    /** It is not ready from now on. */
    stop: (): void => {
      isStopping = true
    },
    report: (): BotsReport => ({
      version: VERSION,
      pid: process.pid,
      startedAt,
      ready: isReady(),
      warnings: warnings.all(),
      bots: bots.report(),
    }),
    /** @param bot null: of the whole process. @returns null where there is no such bot */
    readiness: (bot: string | null): Readiness | null => {
      if (bot === null) return { ready: isReady(), reasons: bots.reasons() }
      return bots.find(bot)?.report() ?? null
    },
  }
}

/** The doors that all bots share. */
const createDoors = (
  { loaded: { settings }, log }: SeveralOptions,
  bots: HostedBots,
  { metrics, state }: { metrics: Metrics; state: ReturnType<typeof createState> },
): Doors => ({
  bot: buildSharedDoor({
    log,
    onAnswered: (line) => recordRequest(metrics, line),
    allowedHosts: botHosts(settings),
    tls: doorTls(settings),
    bots: bots.tokens,
    strangers: bots.doorQueues.strangers,
  }),
  admin: createAdminDoor(
    { settings, log },
    {
      metrics: metrics.registry,
      readiness: (bot) => state.readiness(bot),
      status: (bot) => {
        if (bot === null) return Promise.resolve(state.report())
        return bots.find(bot)?.status() ?? null
      },
    },
  ),
})

/** Measures the disk and the memory that all bots share, and warns before either is full. */
function watchMachine({ loaded, log }: SeveralOptions, metrics: Metrics) {
  const { settings, secrets } = loaded
  const warnings = createWarnings()
  const alerts = createAlerts({ ways: alertWays(settings, secrets), log })
  const warn = expiryWarnings(warnings, alerts, log)
  const ends = { keyEndsMs: Infinity, authorityEndsMs: Infinity, neededKeyEndsMs: Infinity }
  let latest: Awaited<ReturnType<typeof readMachine>> | null = null
  const look = async (): Promise<void> => {
    latest = await readMachine(settings.dataDir)
    warn({ ...ends, ...latest })
  }
  showWarnings(metrics, warnings)
  showResources(metrics, () => latest && { ...ends, ...latest })
  const timer = setInterval(() => void look(), LOOK_MS).unref()
  // oxlint-disable-next-line typescript/no-floating-promises -- readMachine catches its errors
  void look()
  return {
    warnings,
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer)
      await alerts[Symbol.asyncDispose]()
    },
  }
}
