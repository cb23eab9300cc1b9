/** How long the event loop can do nothing else while something runs. */
import { median, round, type Result } from './measure.ts'

type Stalls = Required<Pick<Result, 'stallMs' | 'idleStallMs'>>

/**
 * The medians of so many measurements of the longest stall, in turn with an idle loop.
 * @param o `before` what must be there before each; not measured
 */
export async function stallOf(
  run: () => Promise<unknown>,
  { times, before }: { times: number; before?: () => Promise<unknown> },
): Promise<Stalls> {
  const all: number[] = []
  const idle: number[] = []
  for (let time = 0; time < times; time++) {
    await before?.()
    const startedAt = performance.now()
    all.push(await longestDuring(run))
    const tookMs = performance.now() - startedAt
    idle.push(await longestDuring(() => new Promise((resolve) => setTimeout(resolve, tookMs))))
  }
  return { stallMs: round(median(all)), idleStallMs: round(median(idle)) }
}

/** The longest time between two turns of the event loop, ms. */
async function longestDuring(run: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let lastMs = performance.now()
  const look = (): void => {
    longest = Math.max(longest, performance.now() - lastMs)
    lastMs = performance.now()
  }
  const turn = (): void => {
    look()
    next = setImmediate(turn)
  }
  let next = setImmediate(turn)
  await run()
  look()
  clearImmediate(next)
  return longest
}
