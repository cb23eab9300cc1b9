/** Calls back after so many ms, and keeps no process alive. @returns ends the wait */
export type CallLater = (ms: number, work: () => void) => () => void

/** In time, by a timer of its own. */
export const callInTime: CallLater = (ms, work) => {
  const timer = setTimeout(work, ms).unref()
  return () => clearTimeout(timer)
}

/** How much later shared timers may fire, in ms. */
export const LATER_MS = 1000

/**
 * Timers of many bots at rest: all that are due within the same second fire in one turn of the event
 * loop, a second late at most, so that the process wakes once for all of them. `work` must not throw.
 */
export function sharedTimers(): CallLater {
  const dueAt = new Map<number, Set<() => void>>()
  return (ms, work) => {
    const second = Math.ceil((performance.now() + ms) / LATER_MS)
    const all = dueAt.get(second) ?? new Set()
    if (!dueAt.has(second)) {
      dueAt.set(second, all)
      callInTime(second * LATER_MS - performance.now(), () => {
        dueAt.delete(second)
        for (const one of all) one()
      })
    }
    // a function of its own: the same work may be due twice
    const one = (): void => work()
    all.add(one)
    return () => void all.delete(one)
  }
}
