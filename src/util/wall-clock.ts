/**
 * How the wall clock is set, in ms: against the monotonic one, which nobody sets. It changes when the
 * wall clock is set, and while the machine sleeps.
 */
export const wallClockSetMs = (): number => Date.now() - performance.now()

/** The time that words, signatures and certificates are judged by, in ms since the epoch. */
export interface JudgingClock {
  /** By which the age of words is counted: our clock, or the service's where the two disagree. */
  nowMs(): number
  /** By which ends are counted: `nowMs`, and never before a time that both clocks agreed on. */
  expiryNowMs(): number
  /** Whether `nowMs` is our clock: it agrees with the service's, or that is not known. */
  isOurs(): boolean
  /** Whether the service's time is known, and ours is the same within two minutes. */
  agree(): boolean
  /** False while neither clock can be right: nothing can be judged. */
  isKnown(): boolean
}
