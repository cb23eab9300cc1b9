/** A store of one process as one that sidecars share, in which a test plays the other sidecars. */
import type { FollowedTable, LockName, Reread, Store, StoreLock } from '../../src/store/store.ts'

/** A store with some of its members played. */
export const playedOver = (own: Store, played: Partial<Store>): Store =>
  new Proxy(own, {
    get: (_own, name) => {
      if (Object.hasOwn(played, name)) return Reflect.get(played, name) as unknown
      const value = Reflect.get(own, name, own) as unknown
      return typeof value === 'function' ? (value.bind(own) as unknown) : value
    },
  })

/** A test changes what the fields do. */
export class PlayedStore {
  readonly own: Store
  readonly #rereads: [FollowedTable, Reread][] = []
  /** What other sidecars have written since the last `fresh`. */
  #unread: [FollowedTable, string][] = []
  /** Runs before what others have written is read. */
  onFresh: () => Promise<void> = async () => {}
  /** Runs once a lock is taken. */
  onLock: (name: LockName) => Promise<void> = async () => {}
  isHeld = true

  constructor(own: Store) {
    this.own = own
  }

  /** Another sidecar has written this row. */
  wrote(table: FollowedTable, key: string): void {
    this.#unread.push([table, key])
  }

  async #fresh(): Promise<void> {
    await this.onFresh()
    const unread = this.#unread
    this.#unread = []
    for (const [table, key] of unread) {
      for (const [followed, reread] of this.#rereads) {
        if (followed === table) await this.own.read((db) => reread(db, [key]))
      }
    }
  }

  async #lock(name: LockName, { isFresh = false } = {}): Promise<StoreLock> {
    await this.onLock(name)
    if (isFresh) await this.#fresh()
    const { signal } = new AbortController()
    const lock = { isHeld: true, signal, asked: signal, [Symbol.asyncDispose]: async () => {} }
    return Object.defineProperty(lock, 'isHeld', { get: () => this.isHeld })
  }

  /** The store as it is handed in. */
  get shared(): Store {
    const played: Partial<Store> = {
      isShared: true,
      fresh: () => this.#fresh(),
      follow: (table, reread) => void this.#rereads.push([table, reread]),
      tryLock: (name, o) => this.#lock(name, o),
    }
    return playedOver(this.own, played)
  }
}
