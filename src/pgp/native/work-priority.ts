/** Lets work that somebody waits for go before work that is done ahead of time. */
export class WorkPriority {
  #urgent = 0
  #waiting: (() => void)[] = []
  #last: Promise<unknown> = Promise.resolve()

  /** Does work that goes first. */
  async urgent<T>(work: () => Promise<T>): Promise<T> {
    this.#urgent++
    try {
      return await work()
    } finally {
      this.#urgent--
      if (this.#urgent === 0) for (const go of this.#waiting.splice(0)) go()
    }
  }

  /** Does a piece of work ahead of time, when nothing goes first and no other piece is done. */
  async background<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(() => this.#free()).then(work)
    this.#last = done.catch(() => undefined)
    return await done
  }

  /** Resolves when nothing goes first. */
  async #free(): Promise<void> {
    while (this.#urgent > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }
}
