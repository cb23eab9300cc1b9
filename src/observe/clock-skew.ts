import { SYSTEM_TIME, wallClockSetMs } from '../util/clock.ts'

export const SKEW_MAX_MS = 120_000

/**
 * How far our clock is from the service's, by the answers that have a date.
 * @param time ours, which may be another than the machine's
 */
export function createClockSkew(time: { nowMs(): number } = SYSTEM_TIME) {
  let measured: { ms: number; setMs: number } | null = null
  /** The service's clock was moved, not ours. */
  let isTheirs = false

  /** Our clock minus the service's, in ms, as ours is set now; null before the first dated answer. */
  const skewMs = (): number | null =>
    measured && Math.round(measured.ms + wallClockSetMs() - measured.setMs)

  return {
    ms: skewMs,
    /**
     * Records an answer.
     * @param machineMs how far this machine's clock is ahead of the service's
     * @returns the difference in words; null where it is small enough
     */
    record: (machineMs: number): string | null => {
      const before = skewMs()
      const ms = machineMs + time.nowMs() - Date.now()
      measured = { ms, setMs: wallClockSetMs() }
      if (Math.abs(ms) <= SKEW_MAX_MS) isTheirs = false
      // a change of our own clock is in `before`
      else if (before !== null && Math.abs(before) <= SKEW_MAX_MS) isTheirs = true
      if (Math.abs(ms) <= SKEW_MAX_MS) return null
      const seconds = `${Math.round(Math.abs(ms) / 1000)} s`
      const where = ms > 0 ? 'back' : 'ahead'
      return isTheirs ? `the service’s clock was moved ${where} by ${seconds}` : seconds
    },
  }
}
