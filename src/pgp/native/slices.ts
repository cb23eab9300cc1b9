import { Breath } from '../../breath.ts'

/** Does work of fractions of a millisecond one piece after the other, and holds up nothing else. */
export class Slices {
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #breath = new Breath()

  /** Whether anything is being done, or waits for its turn. */
  get isBusy(): boolean {
    return this.#waiting > 0
  }

  /** Does a piece when its turn has come. @throws what it throws */
  async run<T>(work: () => T | Promise<T>): Promise<T> {
    if (this.#waiting++ === 0) this.#breath = new Breath()
    const done = this.#last.then(() => this.#turn(work))
    this.#last = done.catch(() => undefined)
    try {
      return await done
    } finally {
      this.#waiting--
    }
  }

  async #turn<T>(work: () => T | Promise<T>): Promise<T> {
    await this.#breath.take()
    return await work()
  }
}
