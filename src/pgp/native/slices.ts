import { setImmediate as immediate } from 'node:timers/promises'

/** How long work goes on before everything else gets its turn, in ms. */
const SLICE_MS = 1

/** Does work of fractions of a millisecond one piece after the other, and holds up nothing else. */
export class Slices {
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #sinceMs = 0

  /** Whether anything is being done, or waits for its turn. */
  get isBusy(): boolean {
    return this.#waiting > 0
  }

  /** Does a piece when its turn has come. @throws what it throws */
  async run<T>(work: () => T | Promise<T>): Promise<T> {
    if (this.#waiting++ === 0) this.#sinceMs = performance.now()
    const done = this.#last.then(() => this.#turn(work))
    this.#last = done.catch(() => undefined)
    try {
      return await done
    } finally {
      this.#waiting--
    }
  }

  async #turn<T>(work: () => T | Promise<T>): Promise<T> {
    if (performance.now() - this.#sinceMs > SLICE_MS) {
      await immediate()
      this.#sinceMs = performance.now()
    }
    return await work()
  }
}
