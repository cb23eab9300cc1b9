import { Listeners } from '../util/listeners.ts'

/** A query that is not answered for so long counts as failed until it is, ms. */
const SLOW_MS = 1500

/** Whether the last write succeeded; notifies its listeners of a change. */
export class Writability {
  readonly #changes = new Listeners<boolean>()
  /** Calls back with false when a write has failed, with true when one works again. */
  readonly onChange = this.#changes.add
  #isWritable = true

  /** Counts a query as failed, again and again, while it waits for long: somebody may lock its rows. */
  async during<T>(query: Promise<T>): Promise<T> {
    const timer = setInterval(() => this.set(false), SLOW_MS).unref()
    return await query.finally(() => clearInterval(timer))
  }

  set(isWritable: boolean): void {
    if (isWritable === this.#isWritable) return
    this.#isWritable = isWritable
    this.#changes.emit(isWritable)
  }
}
