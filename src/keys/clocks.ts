/** What time it is, where our clock or the service's may be wrong. All times are ms since the epoch. */
import { OperatorError } from '../errors.ts'

/** No key is made while the clocks differ by more. */
export const SKEW_MAX_MS = 120_000

export class Clocks {
  readonly #serviceNowMs: () => number | null

  /** @param serviceNowMs the time by the service's clock; null while unknown */
  constructor(serviceNowMs: () => number | null) {
    this.#serviceNowMs = serviceNowMs
  }

  /** The earlier of both clocks: by it, nothing ends too soon. */
  earliestMs(): number {
    const nowMs = Date.now()
    return Math.min(nowMs, this.#serviceNowMs() ?? nowMs)
  }

  /** The later of both clocks. */
  latestMs(): number {
    return Math.max(Date.now(), this.#serviceNowMs() ?? 0)
  }

  /** Our clock, to date a key by. @throws ClockOff */
  agreedMs(): number {
    const nowMs = Date.now()
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
