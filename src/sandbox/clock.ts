const LONGEST_TIMER_MS = 2 ** 31 - 1

/** What must be known to go on with the same time later: `running` also while nobody looks. */
export type ClockState = { mode: 'running'; aheadMs: number } | { mode: 'still'; nowMs: number }

interface Waiter {
  atMs: number
  timer: NodeJS.Timeout | undefined
  done: (due: boolean) => void
}

/**
 * The sandbox's time: everything that the spec counts in seconds or hours is counted on it.
 * `running` goes along with real time; `still` stands until it is moved. Both can be moved
 * forward, and whatever falls due on the way happens at once.
 */
export class Clock {
  #offsetMs: number
  readonly #running: boolean
  readonly #waiters = new Set<Waiter>()

  /** @param options `startMs` since the Unix epoch, the real time when absent */
  constructor(options: { mode: 'running' | 'still'; startMs?: number | undefined }) {
    this.#running = options.mode === 'running'
    const startMs = options.startMs ?? Date.now()
    this.#offsetMs = this.#running ? startMs - Date.now() : startMs
  }

  /** A clock that goes on from a state. */
  static from(state: ClockState): Clock {
    return state.mode === 'still'
      ? new Clock({ mode: 'still', startMs: state.nowMs })
      : new Clock({ mode: 'running', startMs: Date.now() + state.aheadMs })
  }

  get state(): ClockState {
    const ms = this.#offsetMs
    return this.#running ? { mode: 'running', aheadMs: ms } : { mode: 'still', nowMs: ms }
  }

  /** Milliseconds since the Unix epoch, an integer. */
  now(): number {
    return this.#running ? Date.now() + this.#offsetMs : this.#offsetMs
  }

  /** Moves the clock forward. @throws RangeError unless `ms` is an integer of at least 0 */
  advance(ms: number): void {
    if (!Number.isSafeInteger(ms) || ms < 0) throw new RangeError('ms must be an integer >= 0')
    this.#offsetMs += ms
    const now = this.now()
    const due = [...this.#waiters].filter((waiter) => waiter.atMs <= now)
    for (const waiter of due.sort((a, b) => a.atMs - b.atMs)) waiter.done(true)
    if (this.#running) for (const waiter of this.#waiters) this.#arm(waiter)
  }

  /** Gives true when `ms` have passed on this clock, at once for 0, false when `signal` was aborted before. */
  wait(ms: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false)
    if (ms <= 0) return Promise.resolve(true)
    return new Promise((resolve) => {
      const stop = (): void => waiter.done(false)
      const waiter: Waiter = {
        atMs: this.now() + ms,
        timer: undefined,
        done: (due) => {
          clearTimeout(waiter.timer)
          signal.removeEventListener('abort', stop)
          this.#waiters.delete(waiter)
          resolve(due)
        },
      }
      signal.addEventListener('abort', stop)
      this.#waiters.add(waiter)
      if (this.#running) this.#arm(waiter)
    })
  }

  #arm(waiter: Waiter): void {
    clearTimeout(waiter.timer)
    const leftMs = Math.min(Math.max(waiter.atMs - this.now(), 0), LONGEST_TIMER_MS)
    waiter.timer = setTimeout(() => {
      if (waiter.atMs <= this.now()) waiter.done(true)
      else this.#arm(waiter)
    }, leftMs)
    waiter.timer.unref()
  }
}
