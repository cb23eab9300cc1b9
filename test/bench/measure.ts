/**
 * The harness of all jobs: contenders run in turns, medians are compared within one run. `resultOf`
 * makes the row of a job, `timeOf` times one run, `temporaryFolder` is removed with its owner.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

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
  /** `ratio`: how many times faster we are than the peer. */
  vs: Record<string, { ms: number; ratio: number }>
  /** What one run in a hundred exceeds, ms, by contender. */
  slowest?: Record<string, number>
  /** MiB that one run adds to a process at its peak, by contender. */
  memory?: Record<string, number>
  /** What else was measured, a line each. */
  notes?: string[]
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
      const ms = await timeOf(run)
      if (turn >= unmeasured) times.get(name)?.push(ms)
    }
  }
  const medianOf = (name: string): number => median(times.get(name) ?? [])
  const peers = o.peers.map(({ name }) => [name, medianOf(name)] as const)
  return resultOf(o.job, medianOf('ours'), Object.fromEntries(peers))
}

/** How long a run takes, ms; or the time that it returns itself. */
export async function timeOf(run: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  const own = await run()
  return typeof own === 'number' ? own : performance.now() - startedAt
}

/** The row of a job. @param peers their times, ms */
export function resultOf(
  job: string,
  ms: number,
  peers: Record<string, number>,
  more: Partial<Result> = {},
): Result {
  const vs = Object.entries(peers).map(([name, theirs]) => [
    name,
    { ms: round(theirs), ratio: round(theirs / ms) },
  ])
  return { job, ms: round(ms), vs: Object.fromEntries(vs) as Result['vs'], ...more }
}

/** Runs each job that is wanted. */
export async function runJobs(
  jobs: Record<string, () => Promise<Result>>,
  wanted: (job: string) => boolean,
): Promise<Result[]> {
  const results: Result[] = []
  for (const [job, run] of Object.entries(jobs)) if (wanted(job)) results.push(await run())
  return results
}

/** An empty folder, which is removed with its owner. */
export function temporaryFolder(): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), 'postern-bench-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
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
export const round = (value: number): number => Number(value.toPrecision(3))
