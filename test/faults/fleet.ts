/** Several sidecars of one bot over one database, each with a way of its own to it. */
import { ownCluster, type Cluster } from '../support/postgres.ts'
import type { Random } from '../support/faults-random.ts'
import type { History } from './history.ts'
import { Keeper, type Look } from './keeper.ts'
import { Relay } from './relay.ts'

/** What the database is to survive is that it is stopped at once, so it writes as it should. */
const SETTINGS = ['max_connections=100', 'autovacuum=off']

/** One of the sidecars. */
export interface Replica {
  readonly keeper: Keeper
  readonly relay: Relay
}

export class Fleet implements AsyncDisposable {
  readonly cluster: Cluster
  readonly replicas: readonly Replica[]
  readonly clientToken: string
  readonly #random: Random
  readonly #own: ReturnType<typeof ownCluster>

  private constructor(
    own: ReturnType<typeof ownCluster>,
    replicas: readonly Replica[],
    random: Random,
  ) {
    this.#own = own
    this.cluster = own.cluster
    this.replicas = replicas
    this.#random = random
    this.clientToken = replicas[0]?.keeper.clientToken ?? ''
  }

  /** Starts the database; no sidecar runs yet. */
  static async settle(o: {
    count: number
    upstreamUrl: string
    token: string
    history: History
    cacheSeconds: number
    leavingFactor: number
    random: Random
  }): Promise<Fleet> {
    const own = ownCluster()
    const { cluster } = own
    cluster.start(SETTINGS)
    const replicas: Replica[] = []
    for (let n = 0; n < o.count; n++) {
      const relay = await Relay.start(cluster)
      replicas.push({ relay, keeper: new Keeper({ ...o, storeUrl: relay.url }) })
    }
    return new Fleet(own, replicas, o.random)
  }

  /** Base URL of the door of one that runs, by chance, as a balancer chooses; null while none runs. */
  get bot(): string | null {
    const running = this.replicas.flatMap(({ keeper }) => keeper.bot ?? [])
    return running.length === 0 ? null : this.#random.pick(running)
  }

  get secrets(): readonly string[] {
    return this.replicas[0]?.keeper.secrets ?? []
  }

  async start(): Promise<void> {
    await Promise.all(this.replicas.map(({ keeper }) => keeper.start()))
  }

  /** What each says of the chats and keys; of one that cannot be asked nothing. */
  async looks(): Promise<Look[]> {
    const looks = await Promise.all(this.replicas.map(({ keeper }) => keeper.look()))
    return looks.filter((look) => look !== null)
  }

  /** Everything in the database as SQL. */
  dump(): Buffer {
    return this.cluster.dump()
  }

  /** Stops the database at once, as a crash does, and starts it again. */
  restartDatabase(mode: 'fast' | 'immediate'): void {
    this.cluster.stop(mode)
    this.cluster.start(SETTINGS)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { keeper, relay } of this.replicas) {
      await keeper[Symbol.asyncDispose]()
      await relay[Symbol.asyncDispose]()
    }
    this.#own[Symbol.dispose]()
  }
}
