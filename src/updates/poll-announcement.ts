/** Sidecars of one bot show each other that their bots poll, so that none takes another for a stranger. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Store, StoreLock } from '../store/store.ts'
import { Mutex } from '../util/scheduling.ts'

/** The sign stays so long after the last poll: whoever was ended by it looks a moment later. */
const KEEP_MS = 1000
/** While another one looks, the sign cannot be put up: it is tried again so often, after so long. */
const TRIES = 10
const AGAIN_MS = 20

/** A lock of the store that all share who poll. */
export class PollAnnouncement implements AsyncDisposable {
  readonly #store: Pick<Store, 'tryLock'>
  readonly #order = new Mutex()
  #lock: StoreLock | null = null
  #polls = 0
  #timer: NodeJS.Timeout | undefined

  constructor(store: Pick<Store, 'tryLock'>) {
    this.#store = store
  }

  /** Call it before a poll; dispose of what it gives when the poll has ended. */
  async show(): Promise<Disposable> {
    this.#polls += 1
    clearTimeout(this.#timer)
    await this.#order.run(() => this.#put())
    return {
      [Symbol.dispose]: () => {
        this.#polls -= 1
        if (this.#polls > 0) return
        this.#timer = setTimeout(() => void this.#order.run(() => this.#remove()), KEEP_MS).unref()
      },
    }
  }

  /** Whether another sidecar polls, or did so within the last second. */
  async isAnotherAnnounced(): Promise<boolean> {
    return await this.#order.run(async () => {
      await this.#remove()
      const alone = await this.#store.tryLock('polls').catch(() => null)
      await alone?.[Symbol.asyncDispose]()
      if (this.#polls > 0) await this.#put()
      return alone === null
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer)
    await this.#order.run(() => this.#remove())
  }

  /** Without it the poll goes on all the same, and may be taken for a stranger's. */
  async #put(): Promise<void> {
    if (this.#lock?.isHeld === true) return
    await this.#remove()
    for (let tries = 1; this.#lock === null && tries <= TRIES; tries++) {
      if (tries > 1) await pause(AGAIN_MS)
      this.#lock = await this.#store.tryLock('polls', { isShared: true }).catch(() => null)
    }
  }

  async #remove(): Promise<void> {
    const lock = this.#lock
    this.#lock = null
    await lock?.[Symbol.asyncDispose]()
  }
}
