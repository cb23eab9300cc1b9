import { setImmediate as turn } from 'node:timers/promises'

/** A clock that a test moves; whoever waits goes on when its time has come. */
export function playedClock() {
  const waits: { untilMs: number; go: () => void }[] = []
  let nowMs = 0
  return {
    now: () => nowMs,
    monotonicNow: () => nowMs,
    wait: async (ms: number, signal: AbortSignal) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      waits.push({ untilMs: nowMs + ms, go: resolve })
      signal.addEventListener('abort', () => resolve())
      if (!signal.aborted) await promise
    },
    pass: async (ms: number) => {
      nowMs += ms
      for (const { untilMs, go } of waits) if (untilMs <= nowMs) go()
      await rest()
    },
  }
}
/** Until all that can go on has. */
export async function rest(): Promise<void> {
  for (let n = 0; n < 400; n++) await turn()
}
