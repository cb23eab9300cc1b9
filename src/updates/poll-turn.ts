/** One sidecar of a bot at a time reads the service's queue. */
import type { Store, StoreLock } from '../store/store.ts'
import { onlyOnce } from '../util/scheduling.ts'

/** A sidecar that is cut off or stopped loses its turn within 4 s. */
export const WAIT_MAX_MS = 8000

/** The turn as one poll or delivery has it. Dispose of it when that has ended. */
export type Turn = StoreLock

/** The lock of the queue, which all polls of this process share. */
export class PollTurn {
  readonly #store: Pick<Store, 'tryLock' | 'untilFree' | 'isWanted'>
  #lock: StoreLock | null = null
  #users = 0
  #taking: Promise<StoreLock | null> | null = null

  constructor(store: Pick<Store, 'tryLock' | 'untilFree' | 'isWanted'>) {
    this.#store = store
  }

  /** Acquires the turn, if no other sidecar holds it. @throws Refusal `postern_store_unwritable` */
  async tryTake(): Promise<Turn | null> {
    if (this.#lock?.isHeld !== true) {
      this.#taking ??= this.#take().finally(() => (this.#taking = null))
      if ((await this.#taking) === null) return null
    }
    const lock = this.#lock
    // given back since, by the last of its users
    if (lock === null) return await this.tryTake()
    this.#users += 1
    return {
      get isHeld() {
        return lock.isHeld
      },
      signal: lock.signal,
      asked: lock.asked,
      [Symbol.asyncDispose]: onlyOnce(() => this.#leave(lock)),
    }
  }

  /**
   * Acquires the turn as soon as the other sidecar releases it or dies. Call it after `tryTake` in vain.
   * @returns null after `WAIT_MAX_MS`, or when the signal was aborted
   * @throws Refusal `postern_store_unwritable`
   */
  async take(signal: AbortSignal): Promise<Turn | null> {
    const ended = AbortSignal.any([signal, AbortSignal.timeout(WAIT_MAX_MS)])
    let turn: Turn | null = null
    while (turn === null && !ended.aborted) {
      await this.untilFree(ended)
      if (!ended.aborted) turn = await this.tryTake()
    }
    return turn
  }

  /** Resolves when no other sidecar holds the turn any more (`Store.untilFree`). */
  async untilFree(signal: AbortSignal): Promise<void> {
    await this.#store.untilFree('poll', signal)
  }

  /** Whether another sidecar polls or delivers, or wants to; not where the database is out of reach. */
  async isWanted(): Promise<boolean> {
    return await this.#store.isWanted('poll').catch(() => false)
  }

  async #take(): Promise<StoreLock | null> {
    const lost = this.#lock
    this.#lock = null
    this.#users = 0
    await lost?.[Symbol.asyncDispose]()
    this.#lock = await this.#store.tryLock('poll')
    return this.#lock
  }

  async #leave(lock: StoreLock): Promise<void> {
    if (lock !== this.#lock) return
    this.#users -= 1
    if (this.#users > 0) return
    this.#lock = null
    await lock[Symbol.asyncDispose]()
  }
}
