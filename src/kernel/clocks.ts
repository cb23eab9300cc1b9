/** The time, where our clock or the service's may be wrong. All times are ms since the epoch. */
import { ClockOff } from '../errors.ts'

/** The two clocks of a machine, ms. */
export interface Time {
  /** Since the epoch; somebody may set it. */
  nowMs(): number
  /** Since any moment; nobody sets it. Freshness is measured with it. */
  monotonicMs(): number
}

/** Clocks that differ by more disagree: no key is made, and ours judges nothing. */
export const SKEW_MAX_MS = 120_000

/** The time by which words, signatures and certificates are judged. */
export type JudgingClock = Pick<Clocks, 'nowMs' | 'expiryNowMs' | 'isOurs' | 'agree' | 'isKnown'>

export class Clocks {
  readonly #time: Time
  readonly #serviceNowMs: () => number | null
  /** The wall clock minus the monotonic one when both last agreed. */
  #agreedSetMs = -Infinity
  #earliestMs = 0

  /**
   * @param serviceNowMs the time by the service's clock, carried on by the monotonic one; null
   *   while unknown
   */
  constructor(time: Time, serviceNowMs: () => number | null) {
    this.#time = time
    this.#serviceNowMs = serviceNowMs
  }

  /** Whether the service's time is known, and ours is the same within two minutes. */
  agree(): boolean {
    const skewMs = Math.abs(this.#time.nowMs() - (this.#serviceNowMs() ?? Infinity))
    if (skewMs <= SKEW_MAX_MS) this.#agreedSetMs = this.#time.nowMs() - this.#time.monotonicMs()
    return skewMs <= SKEW_MAX_MS
  }

  /** Whether `nowMs` is our clock: it agrees with the service's, or that is not known. */
  isOurs(): boolean {
    return this.agree() || this.#serviceNowMs() === null
  }

  /** For the age of words: our clock, or the service's where the two disagree. */
  nowMs(): number {
    return this.agree() ? this.#time.nowMs() : (this.#serviceNowMs() ?? this.#time.nowMs())
  }

  /** For ends, never before a time that both agreed on: a date that is set back revives nothing. */
  expiryNowMs(): number {
    if (this.agree()) return this.#time.nowMs()
    const lastAgreedMs = Math.floor(this.#time.monotonicMs() + this.#agreedSetMs)
    return Math.max(this.nowMs(), lastAgreedMs, this.#earliestMs)
  }

  /** Records a time that is certainly past: a clock that shows an earlier one is wrong. */
  passed(atMs: number): void {
    this.#earliestMs = Math.max(this.#earliestMs, atMs)
  }

  /** Whether our clock shows a time that is certainly past. */
  isBehind(): boolean {
    return this.#time.nowMs() < this.#earliestMs
  }

  /** False while neither clock can be right: nothing can be judged. */
  isKnown(): boolean {
    return this.#serviceNowMs() !== null || !this.isBehind()
  }

  /** The earlier of both clocks: by it, nothing ends too soon. */
  earliestMs(): number {
    const nowMs = this.#time.nowMs()
    return Math.min(nowMs, this.#serviceNowMs() ?? nowMs)
  }

  /** The later of both clocks. */
  latestMs(): number {
    return Math.max(this.#time.nowMs(), this.#serviceNowMs() ?? 0)
  }

  /** Our clock, to date a key by. @throws ClockOff */
  agreedMs(): number {
    const nowMs = this.#time.nowMs()
    const skewMs = nowMs - (this.#serviceNowMs() ?? nowMs)
    if (Math.abs(skewMs) > SKEW_MAX_MS) throw new ClockOff(skewMs)
    return nowMs
  }
}
