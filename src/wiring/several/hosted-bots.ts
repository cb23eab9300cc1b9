/** The bots of a process that serves several, added and removed by the settings. */
import { pickBot } from '../../config/bot-names.ts'
import { presentedToken } from '../../config/read-one.ts'
import type { LoadedBot } from '../../config/read-several.ts'
import { ofEachBot } from '../../config/settings.ts'
import type { BotChanges } from '../../operators/bots.ts'
import type { BotReport } from '../../operators/reports.ts'
import { BotTokens } from '../../http/bot-tokens.ts'
import { createDoorQueues, type SharedBot } from '../../http/shared-door.ts'
import type { Log } from '../../logger.ts'
import { Metrics, type MetricRegistry } from '../../observe/metrics.ts'
import type { MeasuredEngine } from '../../openpgp/index.ts'
import { FairQueue } from '../../util/fair-queue.ts'
import { Mutex } from '../../util/scheduling.ts'
import { createHostedBot, type HostedBot } from './hosted-bot.ts'
import { createEngineQueue, lanedEngine } from './laned-engine.ts'
import type { HandedInParts } from '../link.ts'

/** Bots that are started at once: each reads its store and unlocks its keys. */
const STARTS = 4

interface HostedBotsParts {
  log: Log
  /** Makes the log of one bot. */
  logOf: (bot: LoadedBot) => Log
  engine: MeasuredEngine
  registry: MetricRegistry
  parts: Pick<HandedInParts, 'clock' | 'resolveHost' | 'stretcher' | 'database' | 'later'>
}

export type HostedBots = ReturnType<typeof createHostedBots>

export function createHostedBots({ log, logOf, engine, registry, parts }: HostedBotsParts) {
  const bots = new Map<string, HostedBot>()
  const changes = new Mutex()
  const starts = new FairQueue({ slots: STARTS, perLane: STARTS }).lane()
  let isStopped = false
  /** Finds the bot of a token presented at the door. */
  const tokens = new BotTokens<SharedBot>((names) =>
    log.error({ bots: names }, 'two bots expect the same token, which lets nobody in now'),
  )
  /** The order in which the requests of the door are processed. */
  const doorQueues = createDoorQueues()
  const engineQueue = createEngineQueue()

  const sorted = (): HostedBot[] => [...bots.values()].sort((a, b) => (a.name < b.name ? -1 : 1))

  const change = async (loaded: readonly LoadedBot[]): Promise<BotChanges> => {
    if (isStopped) return { added: [], removed: [], changed: [] }
    const wanted = new Map(loaded.map((bot) => [bot.name, bot]))
    const present = [...bots.values()]
    const removed = present.filter(({ name }) => !wanted.has(name))
    const changed = present.filter((one) => {
      const bot = wanted.get(one.name)
      return bot !== undefined && digest(bot) !== digest(one.loaded)
    })
    await Promise.all([...removed, ...changed].map(end))
    await Promise.all(removed.map(({ name }) => registry.forget(name)))
    const added = loaded.filter(({ name }) => !bots.has(name))
    added.forEach(begin)
    const names = (some: readonly { name: string }[]): string[] => some.map(({ name }) => name)
    const isChanged = new Set(names(changed))
    return {
      added: names(added).filter((name) => !isChanged.has(name)),
      removed: names(removed),
      changed: [...isChanged],
    }
  }

  const begin = (loaded: LoadedBot): void => {
    const { name, secrets } = loaded
    const hosted = createHostedBot(loaded, {
      log: logOf(loaded),
      parts: {
        ...parts,
        engine: lanedEngine(engine, { lane: engineQueue.lane(), owner: name }),
        metrics: new Metrics(registry, name),
        ownerOf: (fingerprint) => sorted().find((one) => one.hasKey(fingerprint))?.name ?? null,
      },
      lanes: doorQueues.lanes(),
      start: (task) => starts.run(task),
      toDoor: (bot) =>
        tokens.set(name, bot, {
          expected: () => presentedToken(secrets).reveal(),
          reread: () => void presentedToken(secrets).reload(),
          hasClient: hosted.hasClient,
        }),
    })
    bots.set(name, hosted)
    // oxlint-disable-next-line typescript/no-floating-promises -- a failed start shows in the status, and is repeated
    void hosted.begin()
  }

  const end = async (hosted: HostedBot): Promise<void> => {
    await hosted.end()
    tokens.delete(hosted.name)
    bots.delete(hosted.name)
  }

  return {
    tokens,
    doorQueues,

    /**
     * Serves these bots from now on, and no others: those that are new are started, those that are gone
     * are stopped, those with other settings start anew. The others notice nothing.
     * @returns once those that go have ended; those that start may still be starting
     */
    set: (loaded: readonly LoadedBot[]) => changes.run(() => change(loaded)),

    /** All of them, by name. */
    report: (): BotReport[] => sorted().map((one) => one.report()),

    /** Why each is not ready that is not, with its name. */
    reasons: () =>
      sorted().flatMap(({ name, reasons }) =>
        reasons().map((reason) => ({ bot: name, ...reason })),
      ),

    /** The bot of a name. @throws OperatorError `usage` when there is none, or none is named */
    named: (name: string | null): HostedBot => pickBot(sorted(), name),

    find: (name: string | null): HostedBot | null => bots.get(name ?? '') ?? null,

    /** Stops all of them. */
    [Symbol.asyncDispose]: () =>
      changes.run(async () => {
        isStopped = true
        await Promise.all([...bots.values()].map((one) => one.end()))
      }),
  }
}

/** Changes with every setting that needs a new start of the bot; those of the process are left out. */
function digest({ settings, secrets }: LoadedBot): string {
  const { botToken, clientToken, passphrase, agentPin, alertUrl } = secrets
  const all = [botToken, clientToken, passphrase, agentPin, alertUrl]
  return JSON.stringify([
    ofEachBot(settings),
    all.map((secret) => [secret?.file, secret?.reveal()]),
  ])
}
