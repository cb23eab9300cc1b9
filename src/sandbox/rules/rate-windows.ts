/** One use, as it is stored. */
export interface RateUse {
  name: string
  atMs: number
  weight: number
}

/** The longest period of a limit. */
export const MINUTE_MS = 60_000

export type RateWindows = ReturnType<typeof rateWindows>

/**
 * Sliding windows by name. A refused use is not counted, so a client that waits out a 429 is not
 * punished for having asked (spec, Errors 2).
 * @param uses earlier ones, by increasing numbers. @param now ms since 1970
 */
export function rateWindows(rates: 'spec' | 'off', uses: Map<number, RateUse>, now: () => number) {
  let next = ([...uses.keys()].at(-1) ?? 0) + 1

  return {
    /**
     * Milliseconds until another use is allowed; 0 when it is allowed now.
     * @param limit the greatest sum of weights in a period
     */
    waitMs: (name: string, limit: number, periodMs: number): number => {
      const nowMs = now()
      let weight = 0
      for (const [n, use] of [...uses].toReversed()) {
        if (use.atMs <= nowMs - MINUTE_MS) uses.delete(n)
        if (use.name !== name || use.atMs <= nowMs - periodMs) continue
        weight += use.weight
        if (weight >= limit) return use.atMs + periodMs - nowMs
      }
      return 0
    },
    /** Counts one use, of weight 1 by default. */
    take: (name: string, weight = 1): void => {
      if (rates === 'spec') uses.set(next++, { name, atMs: now(), weight })
    },
  }
}
