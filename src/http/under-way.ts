import type { ServerResponse } from 'node:http'
import { setTimeout as elapsed } from 'node:timers/promises'
import { Listeners } from '../util/listeners.ts'

/** The answers that are not out yet, of requests that share a server with others. */
export class UnderWay {
  readonly #responses = new Set<ServerResponse>()
  readonly #ends = new Listeners()

  /** Counts a request until its answer is closed. */
  add(response: ServerResponse): void {
    this.#responses.add(response)
    response.once('close', () => {
      this.#responses.delete(response)
      if (this.#responses.size === 0) this.#ends.emit()
    })
  }

  /** Resolves when there is none, having cut off what takes longer than `drainMs`. */
  async allEnded(drainMs: number): Promise<void> {
    if (this.#responses.size === 0) return
    const ended = new Promise<void>((resolve) => void this.#ends.add(resolve))
    await Promise.race([ended, elapsed(drainMs, undefined, { ref: false })])
    for (const response of this.#responses) response.destroy()
  }
}
