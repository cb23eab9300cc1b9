import { setImmediate as nextTurn } from 'node:timers/promises'
import { raceAbort } from '../util/race-abort.ts'

interface BackgroundJob {
  /** Time of this process at which nobody waits for it any longer; `Infinity` for never. */
  untilMs: number
  done: Promise<unknown>
}

/**
 * A world's own work in real time: deliveries under way, steps of a schedule. The clock waits for
 * it before it moves on.
 */
export class BackgroundWork {
  readonly #jobs = new Set<BackgroundJob>()

  /**
   * Does some work, and gives what it gives.
   * @param patienceMs how much real time `settled` leaves it; as much as it needs when absent
   * @throws what the work throws
   */
  async run<T>(work: () => Promise<T>, patienceMs = Infinity): Promise<T> {
    const result = work()
    const job = { untilMs: performance.now() + patienceMs, done: Promise.allSettled([result]) }
    this.#jobs.add(job)
    try {
      return await result
    } finally {
      this.#jobs.delete(job)
    }
  }

  /** Resolves when no work is under way, apart from work that has had its real time. */
  async settled(): Promise<void> {
    for (;;) {
      // A woken task begins its work within one turn of the event loop.
      await nextTurn()
      const job = [...this.#jobs].find(({ untilMs }) => untilMs > performance.now())
      if (job === undefined) return
      await endOf(job)
    }
  }
}

/** Resolves when a job is done, or has had its real time. */
async function endOf({ untilMs, done }: BackgroundJob): Promise<void> {
  const leftMs = Math.max(Math.ceil(untilMs - performance.now()), 0)
  const over = untilMs === Infinity ? undefined : AbortSignal.timeout(leftMs)
  await raceAbort(done, over).catch(() => undefined)
}
