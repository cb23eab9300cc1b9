/** Side by side in one run: the contenders take turns, medians are compared, never absolutes. */

export interface Contender {
  name: string
  run: () => Promise<unknown>
}

export interface Result {
  job: string
  /** Median of ours, ms. */
  ms: number
  /** `ratio`: how many times faster we are than the peer. */
  vs: Record<string, { ms: number; ratio: number }>
  /** What one run works through. */
  bytes?: number
  /** What one run in a hundred exceeds, ms, by contender. */
  slowest?: Record<string, number>
  /** MiB that one run adds to a process at its peak, by contender. */
  memory?: Record<string, number>
}

/**
 * Runs ours and its peers in turn.
 * @param o `warmups` rounds are not counted
 */
export async function compare(o: {
  job: string
  ours: () => Promise<unknown>
  peers: Contender[]
  rounds: number
  warmups?: number
}): Promise<Result> {
  const contenders = [{ name: 'ours', run: o.ours }, ...o.peers]
  const times = new Map<string, number[]>(contenders.map(({ name }) => [name, []]))
  const warmups = o.warmups ?? 1
  for (let turn = 0; turn < o.rounds + warmups; turn++) {
    for (const { name, run } of contenders) {
      const startedAt = performance.now()
      await run()
      const ms = performance.now() - startedAt
      if (turn >= warmups) times.get(name)?.push(ms)
    }
  }
  const ms = median(times.get('ours') ?? [])
  const vs: Result['vs'] = {}
  for (const { name } of o.peers) {
    const theirs = median(times.get(name) ?? [])
    vs[name] = { ms: round(theirs), ratio: round(theirs / ms) }
  }
  return { job: o.job, ms: round(ms), vs }
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** Three significant digits. */
export function round(value: number): number {
  return Number(value.toPrecision(3))
}
