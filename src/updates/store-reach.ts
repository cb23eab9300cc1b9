import type { Store } from '../store/store.ts'

/**
 * Whether the store's database is in reach, for polls: without it, updates cannot be opened. A poll
 * that is under way when it is lost ends, and its updates stay at the service.
 */
export class StoreReach {
  readonly #store: Pick<Store, 'fresh'>
  #nextLoss = new AbortController()

  constructor(store: Pick<Store, 'fresh'>) {
    this.#store = store
  }

  /**
   * Call it before a poll.
   * @returns aborts within two seconds of a loss of the database
   * @throws Refusal `postern_store_unwritable` while the database is out of reach
   */
  async begin(): Promise<AbortSignal> {
    const { signal } = this.#nextLoss
    await this.#store.fresh()
    return signal
  }

  /** The database is out of reach. */
  lose(): void {
    const ended = this.#nextLoss
    this.#nextLoss = new AbortController()
    ended.abort()
  }
}
