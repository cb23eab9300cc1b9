/**
 * How the wall clock is set, in ms: against the monotonic one, which nobody sets. It changes when the
 * wall clock is set, and while the machine sleeps.
 */
export const wallClockSetMs = (): number => Date.now() - performance.now()
