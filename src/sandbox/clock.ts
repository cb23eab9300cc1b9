import { Mutex } from '../util/scheduling.ts'

const LONGEST_TIMER_MS = 2 ** 31 - 1

/** `running` follows real time; `still` moves only by `advance`. */
export type ClockMode = 'running' | 'still'

/** A clock's stored state. A `running` clock also goes on while no process has it open. */
export type ClockState = { mode: 'running'; aheadMs: number } | { mode: 'still'; nowMs: number }

interface ClockWait {
  atMs: number
  timer: NodeJS.Timeout | undefined
  done: (due: boolean) => void
}

/**
 * The sandbox's clock, on which all times and limits of the spec are measured. In both modes it can
 * be moved forward: it then stops at every wait that falls due on the way.
 */
export class WorldClock {
  #mode: ClockMode
  /** The time of a stopped clock: a still one, or during `advance`. Null while it runs. */
  #standsAtMs: number | null
  /** How far it is ahead of real time while it runs. */
  #aheadMs: number
  #isAdvancing = false
  readonly #waits = new Set<ClockWait>()
  readonly #advances = new Mutex()

  /**
   * @param options `mode`: as stored, or `running`, when absent; `startMs` since the Unix epoch, the
   *   real time when absent
   * @param stored the time to continue from, instead of `startMs`
   */
  constructor(
    options: { mode?: ClockMode | undefined; startMs?: number | undefined },
    stored?: ClockState,
  ) {
    const realMs = Date.now()
    const storedMs = stored?.mode === 'running' ? realMs + stored.aheadMs : stored?.nowMs
    const startMs = storedMs ?? options.startMs ?? realMs
    this.#mode = options.mode ?? stored?.mode ?? 'running'
    this.#aheadMs = startMs - realMs
    this.#standsAtMs = this.#mode === 'still' ? startMs : null
  }

  get state(): ClockState {
    if (this.#mode === 'still') return { mode: 'still', nowMs: this.now() }
    const aheadMs = this.#standsAtMs === null ? this.#aheadMs : this.#standsAtMs - Date.now()
    return { mode: 'running', aheadMs }
  }

  get mode(): ClockMode {
    return this.#mode
  }

  /** Stops the clock at the time it has, or lets it run on from there. */
  set mode(mode: ClockMode) {
    this.#mode = mode
    if (!this.#isAdvancing) this.#applyMode()
  }

  /** Milliseconds since the Unix epoch, an integer. */
  now(): number {
    return this.#standsAtMs ?? Date.now() + this.#aheadMs
  }

  /**
   * Moves the clock forward. Every wait that falls due on the way ends at its time, one after the
   * other; waits that begin on the way are among them. The clock is stopped in between, in any
   * mode. Calls run one after the other.
   * @param settle called before the first wait ends and after each; what it awaits is set in motion
   *   by then, and happens at that time
   * @throws RangeError unless `ms` is an integer of at least 0
   */
  async advance(ms: number, settle: () => Promise<void>): Promise<void> {
    if (!Number.isSafeInteger(ms) || ms < 0) throw new RangeError('ms must be an integer >= 0')
    await this.#advances.run(async () => {
      this.#isAdvancing = true
      this.#stand()
      const untilMs = this.now() + ms
      try {
        await settle()
        for (let due = this.#next(untilMs); due !== undefined; due = this.#next(untilMs)) {
          this.#standsAtMs = Math.max(due.atMs, this.now())
          due.done(true)
          await settle()
        }
        this.#standsAtMs = untilMs
      } finally {
        this.#isAdvancing = false
        this.#applyMode()
      }
    })
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
      if (this.#standsAtMs === null) this.#arm(wait)
    })
  }

  /** The wait that ends first, of those that end by then; of several, the one that began first. */
  #next(untilMs: number): ClockWait | undefined {
    let next: ClockWait | undefined
    for (const wait of this.#waits) {
      if (wait.atMs <= untilMs && wait.atMs < (next?.atMs ?? Infinity)) next = wait
    }
    return next
  }

  #applyMode(): void {
    if (this.#mode === 'still') return this.#stand()
    this.#aheadMs = this.now() - Date.now()
    this.#standsAtMs = null
    for (const wait of this.#waits) this.#arm(wait)
  }

  #stand(): void {
    this.#standsAtMs = this.now()
    for (const { timer } of this.#waits) clearTimeout(timer)
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
