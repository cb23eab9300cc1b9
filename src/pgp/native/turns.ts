/** Lets only so much run at once, in the order in which it was asked for. */
export class Turns {
  readonly #atOnce: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(atOnce: number) {
    this.#atOnce = atOnce
  }

  /**
   * Runs work when its turn has come, and tells it whether nothing runs beside it.
   * @throws what the work throws
   */
  async run<T>(work: (isAlone: boolean) => Promise<T>): Promise<T> {
    if (this.#running >= this.#atOnce) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else {
      this.#running++
    }
    try {
      return await work(this.#running === 1)
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else next()
    }
  }
}
