/** One sidecar of a bot at a time reads the service's queue. */
import type { Store, StoreLock } from '../store/store.ts'
import type { Clock } from '../util/clock.ts'

/** Interval at which a waiting poll tries to acquire the turn. */
const ASK_MS = 100
/** A sidecar that is cut off or stopped loses its turn within 4 s. */
export const WAIT_MAX_MS = 8000

/** The turn as one poll or delivery has it. Dispose of it when that has ended. */
export interface Turn extends AsyncDisposable {
  /** False from the moment at which it may be another sidecar's. Ask before each act. */
  readonly isHeld: boolean
  /** Aborts when it is lost. */
  readonly signal: AbortSignal
}

/** The lock of the queue, which all polls of this process share. */
export class PollTurn {
  readonly #store: Pick<Store, 'tryLock'>
  readonly #clock: Clock
  #lock: StoreLock | null = null
  #users = 0
  #taking: Promise<StoreLock | null> | null = null

  constructor(store: Pick<Store, 'tryLock'>, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /**
   * Acquires the turn, if no other sidecar holds it.
   * @throws Refusal `postern_store_unwritable`
   */
  async tryTake(): Promise<Turn | null> {
    if (this.#lock?.isHeld !== true) {
      this.#taking ??= this.#take().finally(() => (this.#taking = null))
      if ((await this.#taking) === null) return null
    }
    const lock = this.#lock
    // given back since, by the last of its users
    if (lock === null) return await this.tryTake()
    this.#users += 1
    let isUsed = true
    return {
      get isHeld() {
        return lock.isHeld
      },
      signal: lock.signal,
      [Symbol.asyncDispose]: async () => {
        if (!isUsed) return
        isUsed = false
        await this.#leave(lock)
      },
    }
  }

  /**
   * Acquires the turn as soon as the other sidecar releases it or dies.
   * @returns null after `WAIT_MAX_MS`, or when the signal was aborted
   * @throws Refusal `postern_store_unwritable`
   */
  async take(signal: AbortSignal): Promise<Turn | null> {
    const untilMs = this.#clock.monotonicNow() + WAIT_MAX_MS
    while (!signal.aborted && this.#clock.monotonicNow() < untilMs) {
      const turn = await this.tryTake()
      if (turn !== null) return turn
      await this.#clock.wait(ASK_MS, signal)
    }
    return null
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
