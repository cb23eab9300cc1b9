/** A `ServiceWatch` with fake timers, before a played service. */
import { vi } from 'vitest'
import { Health } from '../../src/observe/health.ts'
import type { Probes } from '../../src/observe/probes.ts'
import { RESTING_AFTER_MS, ServiceWatch } from '../../src/observe/service-watch.ts'
import type { CallLater } from '../../src/util/shared-timers.ts'
import { useFakeTime } from '../support/fake-time.ts'

/** A call may take four of the fifteen seconds by which readiness may lag. */
export const BEHIND_MS = 15_000
export const CALL_MS = 4000

export const useWatchTime = (): void =>
  useFakeTime({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })

/** A watch that has started, with these probes; the others succeed. */
export function startWatch(probesOf: (watch: ServiceWatch) => Partial<Probes>, later?: CallLater) {
  const health = new Health()
  const watch = new ServiceWatch(health, undefined, later)
  if (later !== undefined) watch.noteTraffic(RESTING_AFTER_MS)
  watch.start({
    askService: async () => {},
    tryStore: async () => {},
    reachStore: async () => {},
    reloadToken: async () => false,
    lookAtClock: () => {},
    lookLocally: async () => {},
    untilNextEndMs: () => Infinity,
    ...probesOf(watch),
  })
  return { health, watch }
}

/** How long until something is so, ms. */
export async function until(isSo: () => boolean): Promise<number> {
  for (let ms = 0; ms <= 600_000; ms += 100) {
    if (isSo()) return ms
    await vi.advanceTimersByTimeAsync(100)
  }
  return Infinity
}
