/** Key pairs made ahead, each for one recipient of one message that somebody waits for. */
import type { Precedence } from './precedence.ts'
import { freshPair, type Ephemeral } from './x25519.ts'

/** As many as a message to the largest group takes. */
const PAIRS = 1000
const AT_ONCE = 2

export class Stock {
  readonly #pairs: Ephemeral[] = []
  readonly #precedence: Precedence
  #lanes = 0
  #isClosed = false

  constructor(precedence: Precedence) {
    this.#precedence = precedence
  }

  get size(): number {
    return this.#pairs.length
  }

  /** A pair that nobody else gets; a fresh one when there is none left. */
  async take(): Promise<Ephemeral> {
    return this.#pairs.pop() ?? (await freshPair())
  }

  /** Makes up for what was taken, behind everything else. */
  refill(): void {
    while (this.#lanes < AT_ONCE && this.#isWanting) {
      this.#lanes++
      void this.#fill()
    }
  }

  /** Forgets all. */
  close(): void {
    this.#isClosed = true
    this.#pairs.length = 0
  }

  get #isWanting(): boolean {
    return this.#pairs.length < PAIRS && !this.#isClosed
  }

  async #fill(): Promise<void> {
    try {
      while (this.#isWanting) {
        await this.#precedence.free()
        const pair = await freshPair()
        if (!this.#isClosed) this.#pairs.push(pair)
      }
    } finally {
      this.#lanes--
    }
  }
}
