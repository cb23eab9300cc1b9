/** Lets work that somebody waits for go before work that is done ahead of time. */
export class Precedence {
  #ahead = 0
  #waiting: (() => void)[] = []

  /** Does work that goes first. */
  async first<T>(work: () => Promise<T>): Promise<T> {
    this.#ahead++
    try {
      return await work()
    } finally {
      this.#ahead--
      if (this.#ahead === 0) for (const go of this.#waiting.splice(0)) go()
    }
  }

  /** Resolves when nothing goes first. */
  async free(): Promise<void> {
    while (this.#ahead > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }
}
