const LONGEST_TIMER_MS = 2 ** 31 - 1

/** A clock's stored state. A `running` clock also goes on while no process has it open. */
export type ClockState = { mode: 'running'; aheadMs: number } | { mode: 'still'; nowMs: number }

interface ClockWait {
  atMs: number
  timer: NodeJS.Timeout | undefined
  done: (due: boolean) => void
}

/**
 * The sandbox's clock, on which all times and limits of the spec are measured. `running` follows
 * real time; `still` stands until `advance` moves it. Both can be moved forward; every wait that
 * becomes due on the way ends at once.
 */
export class WorldClock {
  #offsetMs: number
  readonly #running: boolean
  readonly #waits = new Set<ClockWait>()

  /** @param options `startMs` since the Unix epoch, the real time when absent */
  constructor(options: { mode: 'running' | 'still'; startMs?: number | undefined }) {
    this.#running = options.mode === 'running'
    const startMs = options.startMs ?? Date.now()
    this.#offsetMs = this.#running ? startMs - Date.now() : startMs
  }

  /** Continues from a stored state. */
  static from(state: ClockState): WorldClock {
    return state.mode === 'still'
      ? new WorldClock({ mode: 'still', startMs: state.nowMs })
      : new WorldClock({ mode: 'running', startMs: Date.now() + state.aheadMs })
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
    const due = [...this.#waits].filter((wait) => wait.atMs <= now)
    for (const wait of due.sort((a, b) => a.atMs - b.atMs)) wait.done(true)
    if (this.#running) for (const wait of this.#waits) this.#arm(wait)
  }

  /** Resolves to true when `ms` have passed on this clock, to false when `signal` is aborted before. */
  wait(ms: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false)
    if (ms <= 0) return Promise.resolve(true)
    return new Promise((resolve) => {
      const stop = (): void => wait.done(false)
      const wait: ClockWait = {
        atMs: this.now() + ms,
        timer: undefined,
        done: (due) => {
          clearTimeout(wait.timer)
          signal.removeEventListener('abort', stop)
          this.#waits.delete(wait)
          resolve(due)
        },
      }
      signal.addEventListener('abort', stop)
      this.#waits.add(wait)
      if (this.#running) this.#arm(wait)
    })
  }

  #arm(wait: ClockWait): void {
    clearTimeout(wait.timer)
    const leftMs = Math.min(Math.max(wait.atMs - this.now(), 0), LONGEST_TIMER_MS)
    wait.timer = setTimeout(() => {
      if (wait.atMs <= this.now()) wait.done(true)
      else this.#arm(wait)
    }, leftMs)
    wait.timer.unref()
  }
}
