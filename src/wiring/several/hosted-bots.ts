/** The bots of a process that serves several, added and removed by the settings. */
import { pickBot } from '../../config/bot-names.ts'
import { presentedToken } from '../../config/read-one.ts'
import type { LoadedBot } from '../../config/read-several.ts'
import { ofEachBot } from '../../config/settings.ts'
import type { BotChanges } from '../../operators/bots.ts'
import type { BotReason, BotReport } from '../../operators/reports.ts'
import { BotTokens } from '../../http/bot-tokens.ts'
import { createDoorQueues, type SharedBot } from '../../http/shared-door.ts'
import type { Log } from '../../logger.ts'
import { Metrics, type MetricRegistry } from '../../observe/metrics.ts'
import type { MeasuredEngine } from '../../openpgp/index.ts'
import { FairQueue } from '../../util/fair-queue.ts'
import { Mutex } from '../../util/scheduling.ts'
import { HostedBot } from './hosted-bot.ts'
import { createEngineQueue, lanedEngine } from './laned-engine.ts'
import type { HandedInParts } from '../link.ts'

/** Bots that are started at once: each reads its store and unlocks its keys. */
const STARTS = 4

export interface HostedBotsParts {
  log: Log
  /** Makes the log of one bot. */
  logOf: (bot: LoadedBot) => Log
  engine: MeasuredEngine
  registry: MetricRegistry
  parts: Pick<HandedInParts, 'clock' | 'resolveHost' | 'stretcher' | 'database'>
}

export class HostedBots implements AsyncDisposable {
  /** Finds the bot of a token presented at the door. */
  readonly tokens: BotTokens<SharedBot>
  readonly #parts: HostedBotsParts
  readonly #bots = new Map<string, HostedBot>()
  readonly #changes = new Mutex()
  readonly #starts = new FairQueue({ slots: STARTS, perLane: STARTS }).lane()
  #isStopped = false
  /** The order in which the requests of the door are processed. */
  readonly doorQueues = createDoorQueues()
  readonly #engineQueue = createEngineQueue()

  constructor(parts: HostedBotsParts) {
    this.#parts = parts
    this.tokens = new BotTokens((names) =>
      parts.log.error({ bots: names }, 'two bots expect the same token, which lets nobody in now'),
    )
  }

  /**
   * Serves these bots from now on, and no others: those that are new are started, those that are gone
   * are stopped, those with other settings start anew. The others notice nothing.
   * @returns once those that go have ended; those that start may still be starting
   */
  set(loaded: readonly LoadedBot[]): Promise<BotChanges> {
    return this.#changes.run(() => this.#set(loaded))
  }

  async #set(loaded: readonly LoadedBot[]): Promise<BotChanges> {
    if (this.#isStopped) return { added: [], removed: [], changed: [] }
    const wanted = new Map(loaded.map((bot) => [bot.name, bot]))
    const present = [...this.#bots.values()]
    const removed = present.filter(({ name }) => !wanted.has(name))
    const changed = present.filter((one) => {
      const bot = wanted.get(one.name)
      return bot !== undefined && digest(bot) !== digest(one.loaded)
    })
    await Promise.all([...removed, ...changed].map((one) => this.#end(one)))
    await Promise.all(removed.map(({ name }) => this.#parts.registry.forget(name)))
    const added = loaded.filter(({ name }) => !this.#bots.has(name))
    for (const bot of added) this.#begin(bot)
    const names = (some: readonly { name: string }[]): string[] => some.map(({ name }) => name)
    const isChanged = new Set(names(changed))
    return {
      added: names(added).filter((name) => !isChanged.has(name)),
      removed: names(removed),
      changed: [...isChanged],
    }
  }

  #begin(loaded: LoadedBot): void {
    const { engine, registry, parts, logOf } = this.#parts
    const { name, secrets } = loaded
    const hosted = new HostedBot(loaded, {
      log: logOf(loaded),
      parts: {
        ...parts,
        engine: lanedEngine(engine, { lane: this.#engineQueue.lane(), owner: name }),
        metrics: new Metrics(registry, name),
        ownerOf: (fingerprint) =>
          this.#sorted().find((one) => one.hasKey(fingerprint))?.name ?? null,
      },
      lanes: this.doorQueues.lanes(),
      start: (task) => this.#starts.run(task),
      toDoor: (bot) =>
        this.tokens.set(name, bot, {
          expected: () => presentedToken(secrets).reveal(),
          reread: () => void presentedToken(secrets).reload(),
          hasClient: (credential) => hosted.hasClient(credential),
        }),
    })
    this.#bots.set(name, hosted)
    // oxlint-disable-next-line typescript/no-floating-promises -- a failed start shows in the status, and is repeated
    void hosted.begin()
  }

  async #end(hosted: HostedBot): Promise<void> {
    await hosted.end()
    this.tokens.delete(hosted.name)
    this.#bots.delete(hosted.name)
  }

  /** All of them, by name. */
  report(): BotReport[] {
    return this.#sorted().map((one) => one.report())
  }

  /** Why each is not ready that is not, with its name. */
  get reasons(): (BotReason & { bot: string })[] {
    return this.#sorted().flatMap((one) =>
      one.reasons.map((reason) => ({ bot: one.name, ...reason })),
    )
  }

  /** The bot of a name. @throws OperatorError `usage` when there is none, or none is named */
  named(name: string | null): HostedBot {
    return pickBot(this.#sorted(), name)
  }

  find(name: string | null): HostedBot | null {
    return this.#bots.get(name ?? '') ?? null
  }

  #sorted(): HostedBot[] {
    return [...this.#bots.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Stops all of them. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#changes.run(async () => {
      this.#isStopped = true
      await Promise.all([...this.#bots.values()].map((one) => one.end()))
    })
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
