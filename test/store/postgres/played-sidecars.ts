/** Sidecars that share a store of one process: its locks, and what each of them reads again. */
import type { LockName, Reread, Store, StoreLock } from '../../../src/store/store.ts'
import { playedOver } from '../../wiring/played-store.ts'

/** More questions than any test needs: a loop without an end then ends. */
const MOST_ASKED = 60

interface PlayedLock extends StoreLock {
  isHeld: boolean
}

export class PlayedSidecars {
  readonly #own: Store
  readonly #held = new Map<LockName, Map<PlayedLock, boolean>>()
  /** Every lock that somebody was given. */
  readonly given: PlayedLock[] = []
  #asked = 0

  constructor(own: Store) {
    this.#own = own
  }

  /** The store of another sidecar. */
  join(): Store {
    const rereads: Reread[] = []
    const fresh = async (): Promise<void> => {
      this.#count()
      for (const reread of rereads) await this.#own.read((db) => reread(db, []))
    }
    const played: Partial<Store> = {
      isShared: true,
      fresh,
      follow: (table, reread) => void (table === 'flags' && rereads.push(reread)),
      tryLock: async (name, { isShared = false, isFresh = false } = {}) => {
        const lock = this.#take(name, isShared)
        if (isFresh) await fresh()
        return lock
      },
    }
    return playedOver(this.#own, played)
  }

  /** Whether somebody has a lock. */
  isHeld(name: LockName): boolean {
    return (this.#held.get(name)?.size ?? 0) > 0
  }

  #take(name: LockName, isShared: boolean): PlayedLock | null {
    this.#count()
    const holders = this.#held.get(name) ?? new Map<PlayedLock, boolean>()
    this.#held.set(name, holders)
    if (holders.size > 0 && !(isShared && [...holders.values()].every(Boolean))) return null
    const { signal } = new AbortController()
    const lock: PlayedLock = {
      isHeld: true,
      signal,
      asked: signal,
      [Symbol.asyncDispose]: async () => void holders.delete(lock),
    }
    holders.set(lock, isShared)
    this.given.push(lock)
    return lock
  }

  #count(): void {
    if (++this.#asked > MOST_ASKED) throw new Error('asked on and on')
  }
}
