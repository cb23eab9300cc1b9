/** A real primary with a synchronous standby, set as `src/store/README.md` says. */
import { setTimeout as pause } from 'node:timers/promises'
import { ownCluster, standbyOf, type Cluster } from './postgres.ts'

const STANDBY = 'standby'
const MOST_MS = 30_000

export class PostgresPair implements Disposable {
  readonly #clusters = new DisposableStack()
  readonly #settings: readonly string[]
  #primary: Cluster
  #standby: Cluster | null = null

  private constructor(settings: readonly string[]) {
    this.#settings = settings
    this.#primary = this.#clusters.use(ownCluster()).cluster
    this.#primary.start(settings)
  }

  /** Starts both; every commit waits for the standby when this resolves. */
  static async start(settings: readonly string[] = []): Promise<PostgresPair> {
    const pair = new PostgresPair(settings)
    await pair.addStandby()
    return pair
  }

  get primary(): Cluster {
    return this.#primary
  }

  /** Copies the primary into a new standby, which it waits for from then on. */
  async addStandby(): Promise<void> {
    const primary = this.#primary
    const { cluster } = this.#clusters.use(standbyOf(primary, STANDBY))
    cluster.start(this.#settings)
    primary.sql(`ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (${STANDBY})'`)
    primary.sql('SELECT pg_reload_conf()')
    const untilMs = performance.now() + MOST_MS
    while (primary.sql('SELECT sync_state FROM pg_stat_replication') !== 'quorum') {
      if (performance.now() > untilMs) throw new Error('the standby does not follow')
      await pause(20)
    }
    this.#standby = cluster
  }

  /**
   * Ends the primary without a word, and promotes the standby, which has none of its own then.
   * @returns the former primary, which can be started again
   */
  failOver(): Cluster {
    const former = this.#primary
    if (this.#standby === null) throw new Error('there is no standby')
    former.kill()
    this.#standby.promote()
    this.#primary = this.#standby
    this.#standby = null
    return former
  }

  [Symbol.dispose](): void {
    this.#clusters.dispose()
  }
}
