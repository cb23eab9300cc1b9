import { setImmediate as immediate } from 'node:timers/promises'

/** How long work goes on before everything else gets its turn, in ms. */
const SLICE_MS = 1

/** For long work in small pieces: taken between two of them, it lets everything else go on. */
export class Breath {
  #sinceMs = performance.now()

  /** Resolves at once while the work is young, else when everything else has had its turn. */
  async take(): Promise<void> {
    if (performance.now() - this.#sinceMs < SLICE_MS) return
    await immediate()
    this.#sinceMs = performance.now()
  }
}
