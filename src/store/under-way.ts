import { Refusal } from '../errors.ts'

/** What runs on a store: closing waits for it, and nothing new begins after that. */
export class UnderWay {
  readonly #running = new Set<Promise<unknown>>()
  #isClosed = false

  /** @throws Refusal `postern_store_unwritable` when the store is closed; what the task throws */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new Refusal('postern_store_unwritable', 'the store is closed')
    const promise = task()
    this.#running.add(promise)
    try {
      return await promise
    } finally {
      this.#running.delete(promise)
    }
  }

  /** Lets nothing new begin, and waits for what runs. @returns false when it was closed before */
  async close(): Promise<boolean> {
    if (this.#isClosed) return false
    this.#isClosed = true
    await Promise.allSettled(this.#running)
    return true
  }
}
