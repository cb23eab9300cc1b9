/** Side by side in one run: the contenders take turns, medians are compared, never absolutes. */
import type { GrowthRow } from './growth-rows.ts'

export interface Contender {
  name: string
  /** What is timed; or gives its time in ms itself. */
  run: () => Promise<unknown>
  /** What must be there before each run; not timed. */
  before?: () => Promise<unknown>
  /** Fewer rounds than the others, and one to warm up, for one that is slow. */
  rounds?: number
}

export interface Result {
  job: string
  /** Median of ours, ms. */
  ms: number
  /** Longest time in ms that the event loop could do nothing else; where it was measured. */
  stallMs?: number
  /** The same for as long with nothing to do: what other processes do to it. */
  idleStallMs?: number
  /** The longest time without what the loop's thread waited for a core that others had. */
  ownStallMs?: number
  /** `ratio`: how many times faster we are than the peer. */
  vs: Record<string, { ms: number; ratio: number }>
  /** What one run works through. */
  bytes?: number
  /** What one run in a hundred exceeds, ms, by contender. */
  slowest?: Record<string, number>
  /** MiB that one run adds to a process at its peak, by contender. */
  memory?: Record<string, number>
  /** What else was measured, a line each. */
  notes?: string[]
  /** How a cost grows, instead of a time beside others. */
  growth?: GrowthRow
}

/**
 * Runs ours and its peers in turn.
 * @param o `warmups` rounds are not counted
 */
export async function compare(o: {
  job: string
  ours: Omit<Contender, 'name'>
  peers: Contender[]
  rounds: number
  warmups?: number
}): Promise<Result> {
  const contenders = [{ ...o.ours, name: 'ours' }, ...o.peers]
  const times = new Map<string, number[]>(contenders.map(({ name }) => [name, []]))
  const warmups = o.warmups ?? 1
  for (let turn = 0; turn < o.rounds + warmups; turn++) {
    for (const { name, run, before, rounds } of contenders) {
      const unmeasured = rounds === undefined ? warmups : Math.min(warmups, 1)
      if (turn >= (rounds ?? o.rounds) + unmeasured) continue
      await before?.()
      const startedAt = performance.now()
      const own = await run()
      const ms = typeof own === 'number' ? own : performance.now() - startedAt
      if (turn >= unmeasured) times.get(name)?.push(ms)
    }
  }
  const ms = median(times.get('ours') ?? [])
  return { job: o.job, ms: round(ms), vs: against(ms, o.peers, times) }
}

function against(
  ms: number,
  peers: Contender[],
  times: ReadonlyMap<string, number[]>,
): Result['vs'] {
  return Object.fromEntries(
    peers.map(({ name }) => {
      const theirs = median(times.get(name) ?? [])
      return [name, { ms: round(theirs), ratio: round(theirs / ms) }]
    }),
  )
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** What one in a hundred exceeds. */
export function slowest(times: number[]): number {
  return round(times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN)
}

/** Three significant digits. */
export function round(value: number): number {
  return Number(value.toPrecision(3))
}
