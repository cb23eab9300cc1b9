/** The time, where our clock or the service's may be wrong. All times are ms since the epoch. */
import { OperatorError } from '../../errors.ts'
import type { JudgingClock, Time } from '../../kernel/index.ts'

/** Clocks that differ by more disagree: no key is made, and ours judges nothing. */
export const SKEW_MAX_MS = 120_000

export class Clocks implements JudgingClock {
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

  agree(): boolean {
    const skewMs = Math.abs(this.#time.nowMs() - (this.#serviceNowMs() ?? Infinity))
    if (skewMs <= SKEW_MAX_MS) this.#agreedSetMs = this.#time.nowMs() - this.#time.monotonicMs()
    return skewMs <= SKEW_MAX_MS
  }

  isOurs(): boolean {
    return this.agree() || this.#serviceNowMs() === null
  }

  nowMs(): number {
    return this.agree() ? this.#time.nowMs() : (this.#serviceNowMs() ?? this.#time.nowMs())
  }

  /** A service that sets its date back revives nothing. */
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

/** The clocks are too far apart for making a key. */
export class ClockOff extends OperatorError {
  /** @param skewMs our clock minus the service's */
  constructor(skewMs: number) {
    super(
      'refused',
      `our clock is ${describeSkew(skewMs)}: no key is made`,
      'set this machine’s clock (NTP)',
    )
  }
}

/** How far our clock is from the service's, for people. @param skewMs ours minus the service's */
export function describeSkew(skewMs: number): string {
  const seconds = Math.round(Math.abs(skewMs) / 1000)
  return `${seconds} s ${skewMs >= 0 ? 'ahead of' : 'behind'} the service’s`
}
