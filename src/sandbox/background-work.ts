import { setImmediate as nextTurn } from 'node:timers/promises'
import { raceAbort } from '../util/race-abort.ts'

/**
 * A world's own work in real time: deliveries under way, steps of a schedule. The clock waits for
 * it before it moves on.
 */
export class BackgroundWork {
  /** Each resolves when some work is done, or has had its real time. */
  readonly #jobs = new Set<Promise<unknown>>()

  /**
   * Does some work, and gives what it gives.
   * @param patienceMs how much real time `settled` leaves it; as much as it needs when absent
   * @throws what the work throws
   */
  async run<T>(work: () => Promise<T>, patienceMs = Infinity): Promise<T> {
    const result = work()
    const over = patienceMs === Infinity ? undefined : AbortSignal.timeout(patienceMs)
    const job = raceAbort(result, over).catch(() => undefined)
    this.#jobs.add(job)
    // oxlint-disable-next-line typescript/no-floating-promises -- a job never rejects
    void job.then(() => this.#jobs.delete(job))
    return await result
  }

  /** Resolves when no work is under way, apart from work that has had its real time. */
  async settled(): Promise<void> {
    for (;;) {
      // A woken task begins its work within one turn of the event loop.
      await nextTurn()
      const [job] = this.#jobs
      if (job === undefined) return
      await job
    }
  }
}
