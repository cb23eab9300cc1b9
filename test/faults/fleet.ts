/** Several sidecars of one bot over one database, each with a way of its own to it. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Cluster } from '../support/postgres.ts'
import { PostgresPair } from '../support/postgres-pair.ts'
import type { Random } from '../support/faults-random.ts'
import { startProxy, type Proxy } from '../support/faults-proxy.ts'
import { free } from './database-acts.ts'
import type { Cast } from './cast.ts'
import { Keeper, type KeeperOptions, type Look } from './keeper.ts'
import { Relay } from './relay.ts'
import { startAgain } from './replica-troubles.ts'

/** What the database is to survive is that it is stopped at once, so it writes as it should. */
const SETTINGS = ['max_connections=100', 'autovacuum=off', 'wal_retrieve_retry_interval=200ms']

/** How long a sidecar may take to reach a new primary, and how often it is asked. */
const LED_MS = 4000
const LOOK_MS = 300

/** One of the sidecars. */
export interface Replica {
  readonly keeper: Keeper
  readonly relay: Relay
  /** The bot's way to it. */
  readonly door: Proxy
}

export class Fleet implements AsyncDisposable {
  readonly replicas: readonly Replica[]
  readonly clientToken: string
  readonly #random: Random
  readonly #pair: PostgresPair

  private constructor(pair: PostgresPair, replicas: readonly Replica[], random: Random) {
    this.#pair = pair
    this.replicas = replicas
    this.#random = random
    this.clientToken = replicas[0]?.keeper.clientToken ?? ''
  }

  /** Starts the database; no sidecar runs yet. */
  static async settle(
    o: Omit<KeeperOptions, 'settings' | 'agent'> & { count: number; random: Random; cast: Cast },
  ): Promise<Fleet> {
    const pair = await PostgresPair.start(SETTINGS)
    const replicas: Replica[] = []
    for (let n = 0; n < o.count; n++) {
      const relay = await Relay.start(pair.primary)
      const { settings, holder } = o.cast
      const own = { settings, agent: holder?.address, skewMs: n === 0 ? 0 : o.cast.skewMs() }
      const keeper = new Keeper({ ...o, ...own, storeUrl: relay.url })
      const door = await startProxy(() => keeper.bot, o.random.fork())
      replicas.push({ relay, keeper, door })
    }
    return new Fleet(pair, replicas, o.random)
  }

  /** Base URL of the door of one that runs, by chance, as a balancer chooses; null while none runs. */
  get bot(): string | null {
    const running = this.replicas.filter(({ keeper }) => keeper.bot !== null)
    return running.length === 0 ? null : this.#random.pick(running).door.url
  }

  /** Which sidecar has that door. */
  sidecarOf(bot: string): number {
    return this.replicas.findIndex(({ door }) => door.url === bot)
  }

  get secrets(): readonly string[] {
    return this.replicas[0]?.keeper.secrets ?? []
  }

  async start(): Promise<void> {
    await Promise.all(this.replicas.map(startAgain))
  }

  /** What each says of the chats and keys, and in which life; of one that cannot be asked nothing. */
  async looks(): Promise<(Look & { by: string })[]> {
    const looks = await Promise.all(
      this.replicas.map(async ({ keeper }, n) => {
        const by = `sidecar ${n}, life ${keeper.life}`
        const look = await keeper.look()
        // one that was started meanwhile may have answered
        return look === null || by !== `sidecar ${n}, life ${keeper.life}` ? [] : [{ ...look, by }]
      }),
    )
    return looks.flat()
  }

  /** Of the database that is the primary now. */
  get databaseUrl(): string {
    return this.#pair.primary.url
  }

  /** Everything in the database as SQL. */
  dump(): Buffer {
    return this.#pair.primary.dump()
  }

  /** Whichever database is the primary by then. */
  async freeDisk(): Promise<void> {
    while (!(await free(this.databaseUrl))) await pause(LOOK_MS)
  }

  /** Stops the database at once, as a crash does, and starts it again. */
  restartDatabase(mode: 'fast' | 'immediate'): void {
    const { primary } = this.#pair
    primary.stop(mode)
    primary.start(SETTINGS)
  }

  /**
   * Ends the primary without a word, and has its standby go on.
   * @returns the former primary, which can be started again
   */
  failOver(): Cluster {
    for (const { relay } of this.replicas) relay.cut()
    const former = this.#pair.failOver()
    for (const { relay } of this.replicas) relay.leadTo(this.#pair.primary)
    return former
  }

  /**
   * Leads one sidecar to a former primary, which takes writes, and back after a while: when it was at
   * the new one before, for without that no sidecar can tell them apart.
   */
  async leadAstray(replica: Replica, former: Cluster, forMs: number): Promise<void> {
    if (!(await isLed(replica))) return
    const { relay } = replica
    former.start(SETTINGS)
    relay.leadTo(former)
    await pause(forMs)
    relay.leadTo(this.#pair.primary)
    former.stop('immediate')
  }

  /** Gives a primary that was promoted a standby of its own. */
  async addStandby(): Promise<void> {
    await this.#pair.addStandby()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { keeper, relay, door } of this.replicas) {
      await keeper[Symbol.asyncDispose]()
      await door[Symbol.asyncDispose]()
      await relay[Symbol.asyncDispose]()
    }
    this.#pair[Symbol.dispose]()
  }
}

/** Whether a sidecar says, twice, that it reaches its database. */
async function isLed({ keeper }: Replica): Promise<boolean> {
  let times = 0
  for (const untilMs = performance.now() + LED_MS; performance.now() < untilMs && times < 2;) {
    times = (await reachesStore(keeper.admin)) ? times + 1 : 0
    await pause(LOOK_MS)
  }
  return times === 2
}

async function reachesStore(admin: string | null): Promise<boolean> {
  try {
    const response = await fetch(`${admin}/readyz`, { signal: AbortSignal.timeout(LOOK_MS) })
    const { reasons } = (await response.json()) as { reasons: { code: string }[] }
    return reasons.every(({ code }) => !code.startsWith('store'))
  } catch {
    return false
  }
}
