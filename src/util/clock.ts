import { setTimeout as elapsed } from 'node:timers/promises'

/** Now in ms, by a clock that nobody can set back. Freshness is measured with it. */
export const monotonicNow = (): number => performance.now()

/** The clocks of this machine, as the kernel asks for them. */
export const SYSTEM_TIME = {
  nowMs: (): number => Date.now(),
  monotonicMs: (): number => performance.now(),
}

/** The same with a wall clock that is handed in, such as a sandbox's. */
export const timeOf = (clock: { now(): number }) => ({ ...SYSTEM_TIME, nowMs: () => clock.now() })

/** Time, as deliveries count it: handed in, so that hours of waiting can be tried in no time. */
export interface Clock {
  /** ms since the Unix epoch. */
  now(): number
  /** ms by a clock that nobody can set. */
  monotonicNow(): number
  /** Resolves after so many ms, or as soon as the signal is aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>
}

const LONGEST_TIMER_MS = 2 ** 31 - 1

/** The clocks of this machine. Its timers keep no process alive. */
export const REAL_CLOCK: Clock = {
  now: () => Date.now(),
  monotonicNow: () => performance.now(),
  wait: async (ms, signal) => {
    const waitMs = Math.min(Math.max(ms, 0), LONGEST_TIMER_MS)
    await elapsed(waitMs, undefined, { signal, ref: false }).catch(() => undefined)
  },
}

/**
 * How the wall clock is set, in ms: against the monotonic one, which nobody sets. It changes when the
 * wall clock is set, and while the machine sleeps.
 */
export const wallClockSetMs = (): number => Date.now() - performance.now()
