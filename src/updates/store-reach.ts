import type { Store } from '../store/store.ts'

/** Whether the store's database is in reach, for polls: without it, updates cannot be opened. */
export class StoreReach {
  readonly #store: Pick<Store, 'fresh' | 'keepWatch'>
  #nextLoss = new AbortController()

  constructor(store: Pick<Store, 'fresh' | 'keepWatch'>) {
    this.#store = store
  }

  /**
   * Call it before a poll.
   * @returns `lost` aborts within two seconds of a loss of the database, until disposed of
   * @throws Refusal `postern_store_unwritable` while the database is out of reach
   */
  async begin(): Promise<{ lost: AbortSignal } & Disposable> {
    const { signal: lost } = this.#nextLoss
    await this.#store.fresh()
    const watch = this.#store.keepWatch()
    return { lost, [Symbol.dispose]: () => watch[Symbol.dispose]() }
  }

  /** The database is out of reach. */
  lose(): void {
    const ended = this.#nextLoss
    this.#nextLoss = new AbortController()
    ended.abort()
  }
}
