import { median } from '../bench/measure.ts'

/** What a running sidecar says of itself at a moment, from its own metrics. */
export interface Sample {
  atMs: number
  rssMiB: number
  heapMiB: number
  handles: number
  fds: number
  /** Event-loop delay since the sample before, ms. */
  loopP99Ms: number
  loopMaxMs: number
}

const MIB = 1024 * 1024

/** Reads `/metrics` of a sidecar. */
export async function sample(adminUrl: string): Promise<Sample> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text()
  const value = (name: string): number => {
    const line = new RegExp(`^postern_${name} (\\S+)$`, 'm').exec(text)
    return Number(line?.[1] ?? Number.NaN)
  }
  return {
    atMs: performance.now(),
    rssMiB: value('process_resident_memory_bytes') / MIB,
    heapMiB: value('nodejs_heap_size_used_bytes') / MIB,
    handles: value('nodejs_active_resources_total'),
    fds: value('process_open_fds'),
    loopP99Ms: value('nodejs_eventloop_lag_p99_seconds') * 1000,
    loopMaxMs: value('nodejs_eventloop_lag_max_seconds') * 1000,
  }
}

/** Medians over the second quarter and the last one: the first is for warming up. */
export function drift(samples: readonly Sample[]): { name: string; early: number; late: number }[] {
  const quarter = Math.max(1, Math.floor(samples.length / 4))
  const [early, late] = [samples.slice(quarter, 2 * quarter), samples.slice(-quarter)]
  const names = ['rssMiB', 'heapMiB', 'handles', 'fds', 'loopP99Ms'] as const
  return names.map((name) => ({
    name,
    early: median(early.map((one) => one[name])),
    late: median(late.map((one) => one[name])),
  }))
}
