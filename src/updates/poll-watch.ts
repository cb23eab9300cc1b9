import { Listeners } from '../util/listeners.ts'
import type { Clock } from '../util/clock.ts'

/**
 * How somebody else's poll shows: ours is ended at once with an empty list (spec, GET /updates,
 * rule 3). Once may be chance, three times are somebody.
 */
const TELLING = 3
const WITHIN_MS = 300_000
/** After as long without a sign it has stopped. Longer than any poller waits between polls. */
export const QUIET_MS = 12_000
/** How long after its `timeout` a poll may be answered. */
export const SLACK_MS = 10_000
/** Shorter polls are no evidence. */
const MIN_TIMEOUT_MS = 2000

/**
 * The source of a poll that displaced another: this sidecar too, another sidecar of the same store,
 * or elsewhere.
 */
export type Taker = 'here' | 'replica' | 'elsewhere'
/** Of those, whose polls are not meant to be. */
export type Stranger = Exclude<Taker, 'replica'>

/** Detects polls of this bot that displace each other. */
export class PollWatch implements Disposable {
  readonly #clock: Clock
  readonly #takeOvers = new Listeners<Taker>()
  /** Calls back when a poll was displaced. */
  readonly onEvicted = this.#takeOvers.add
  readonly #contests = new Listeners<Stranger | null>()
  /** Calls back when that happens so often that somebody else polls; with null when it has stopped. */
  readonly onContested = this.#contests.add
  #begun = 0
  #untilMs = -Infinity
  #evictions: { atMs: number; by: Stranger }[] = []
  #isContested = false
  #quiet = new AbortController()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** A poll begins. */
  begin(timeoutSeconds: number) {
    const clock = this.#clock
    const number = ++this.#begun
    const startedMs = clock.monotonicNow()
    const timeoutMs = timeoutSeconds * 1000
    this.#untilMs = Math.max(this.#untilMs, startedMs + timeoutMs + SLACK_MS)
    return {
      /** Whether another poll ended it; nothing is noted yet. @param count of updates in the answer */
      wasTakenOver: (count: number): boolean => {
        const waitedMs = clock.monotonicNow() - startedMs
        // A proxy that ends long calls does so late, and always at the same time.
        return count === 0 && timeoutMs >= MIN_TIMEOUT_MS && waitedMs <= timeoutMs / 2
      },
      /** Notes that another poll ended it: that of a replica, where that is known. */
      takenOver: (by?: 'replica'): void =>
        this.#note(this.#begun > number ? 'here' : (by ?? 'elsewhere')),
    }
  }

  /** Whether a poll through this sidecar may be under way. */
  get mayBeUnderWay(): boolean {
    return this.#clock.monotonicNow() < this.#untilMs
  }

  [Symbol.dispose](): void {
    this.#quiet.abort()
  }

  #note(by: Taker): void {
    const now = this.#clock.monotonicNow()
    this.#takeOvers.emit(by)
    if (by === 'replica') return
    this.#evictions = this.#evictions.filter(({ atMs }) => now - atMs < WITHIN_MS)
    this.#evictions.push({ atMs: now, by })
    if (this.#evictions.length < TELLING) return
    this.#isContested = true
    // One from elsewhere is the worse: it is not to be found here.
    this.#contests.emit(
      this.#evictions.some((one) => one.by === 'elsewhere') ? 'elsewhere' : 'here',
    )
    // oxlint-disable-next-line typescript/no-floating-promises -- a clock never rejects
    void this.#clearWhenQuiet()
  }

  async #clearWhenQuiet(): Promise<void> {
    this.#quiet.abort()
    const quiet = new AbortController()
    this.#quiet = quiet
    await this.#clock.wait(QUIET_MS, quiet.signal)
    if (quiet.signal.aborted || !this.#isContested) return
    this.#isContested = false
    this.#evictions = []
    this.#contests.emit(null)
  }
}
