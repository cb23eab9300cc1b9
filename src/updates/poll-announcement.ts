/** Sidecars of one bot announce their bots' polls to each other, so that none counts as foreign. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Store, StoreLock } from '../store/store.ts'
import { Mutex } from '../util/scheduling.ts'

/** Kept this long after the last poll: a sidecar whose poll that one ended checks soon after. */
const KEEP_MS = 1000
/** While another sidecar checks, the announcement fails: number of tries, and delay in ms. */
const TRIES = 10
const AGAIN_MS = 20

/** A lock of the store that all polling sidecars share. */
export class PollAnnouncement implements AsyncDisposable {
  readonly #store: Pick<Store, 'tryLock'>
  readonly #order = new Mutex()
  #lock: StoreLock | null = null
  #polls = 0
  #timer: NodeJS.Timeout | undefined

  constructor(store: Pick<Store, 'tryLock'>) {
    this.#store = store
  }

  /** Call it before a poll; dispose of the result when the poll has ended. */
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

  /** Announces the poll. On failure the poll continues, and may count as foreign. */
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
