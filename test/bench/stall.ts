/** How long the event loop can do nothing else while something runs. */
import { closeSync, openSync, readSync } from 'node:fs'
import { median, round, type Result } from './measure.ts'

type Stalls = Required<Pick<Result, 'stallMs' | 'idleStallMs'>> & Pick<Result, 'ownStallMs'>

/**
 * The medians of so many measurements of the longest stall, in turn with an idle loop.
 * @param o `before` what must be there before each; not measured
 */
export async function stallOf(
  run: () => Promise<unknown>,
  { times, before }: { times: number; before?: () => Promise<unknown> },
): Promise<Stalls> {
  const all: Longest[] = []
  const idle: Longest[] = []
  for (let time = 0; time < times; time++) {
    await before?.()
    const startedAt = performance.now()
    all.push(await longestDuring(run))
    const tookMs = performance.now() - startedAt
    idle.push(await longestDuring(() => new Promise((resolve) => setTimeout(resolve, tookMs))))
  }
  const ownStallMs = round(median(all.map(({ ownMs }) => ownMs)))
  return {
    stallMs: round(median(all.map(({ ms }) => ms))),
    idleStallMs: round(median(idle.map(({ ms }) => ms))),
    ...(ownStallMs > 0 ? { ownStallMs } : {}),
  }
}

/** The longest times between two turns of the event loop, ms. */
interface Longest {
  ms: number
  /** Without what the thread waited for a core that others had; 0 where the system does not say. */
  ownMs: number
}

async function longestDuring(run: () => Promise<unknown>): Promise<Longest> {
  using waited = new WaitedForCore()
  const longest = { ms: 0, ownMs: 0 }
  let last = waited.now()
  const look = (): void => {
    const now = waited.now()
    const ms = now.ms - last.ms
    longest.ms = Math.max(longest.ms, ms)
    longest.ownMs = Math.max(longest.ownMs, ms - (now.waitedMs - last.waitedMs))
    last = waited.now()
  }
  const turn = (): void => {
    look()
    next = setImmediate(turn)
  }
  let next = setImmediate(turn)
  await run()
  look()
  clearImmediate(next)
  return waited.isKnown ? longest : { ...longest, ownMs: 0 }
}

/** What this thread, ready to run, waited for a core to run on: Linux counts it. */
class WaitedForCore implements Disposable {
  readonly #file = openedOrNull('/proc/thread-self/schedstat')
  readonly #text = Buffer.alloc(128)

  get isKnown(): boolean {
    return this.#file !== null
  }

  /** A moment, and what was waited before it: nothing in between. */
  now(): { ms: number; waitedMs: number } {
    for (let before = this.#read(); ;) {
      const ms = performance.now()
      const waitedMs = this.#read()
      if (waitedMs === before) return { ms, waitedMs }
      before = waitedMs
    }
  }

  /** Time on a core, time waited, and slices, in nanoseconds. */
  #read(): number {
    if (this.#file === null) return 0
    const length = readSync(this.#file, this.#text, 0, this.#text.length, 0)
    return Number(this.#text.toString('latin1', 0, length).split(' ')[1]) / 1e6
  }

  [Symbol.dispose](): void {
    if (this.#file !== null) closeSync(this.#file)
  }
}

function openedOrNull(path: string): number | null {
  try {
    return openSync(path, 'r')
  } catch {
    return null
  }
}
