/** What each test file takes, as `npm run seconds` has measured it (`test/seconds.json`). */
import { readFileSync } from 'node:fs'

/** Seconds of the CPU, with all programs that it starts, and of the clock. */
export interface Cost {
  cpu: number
  clock: number
}

/** Of a file that is not listed, since it takes less than a second. */
const UNLISTED: Cost = { cpu: 0.4, clock: 0.4 }
const listed = readFileSync(new URL('../seconds.json', import.meta.url), 'utf8')
const costs = new Map(Object.entries(JSON.parse(listed) as Record<string, Cost>))

/** @param test from the root of the project */
export const costOf = (test: string): Cost => costs.get(test) ?? UNLISTED
