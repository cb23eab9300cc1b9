/**
 * Loaded before every test file of a run of `npm run seconds`: notes what the file has cost, with
 * the programs that it started and waited for. A server that goes on by itself is not in it.
 */
import { appendFileSync } from 'node:fs'
import { afterAll, expect } from 'vitest'
import { runnerPid } from './programs.ts'
import { cpuSeconds, type FileSeconds } from './seconds.ts'

// a process that runs several files has used some for those before
const shared = globalThis as { secondsUsed?: number }
const usedBefore = shared.secondsUsed ?? 0
const startedMs = performance.now()

// the first hook that is registered is the last one that runs
afterAll(() => {
  const runner = runnerPid()
  const used = cpuSeconds('self') + (runner === null ? 0 : cpuSeconds(runner))
  shared.secondsUsed = used
  const note: FileSeconds = {
    file: expect.getState().testPath ?? '',
    store: process.env['TESTS_STORE_KIND'] ?? 'file',
    clock: (performance.now() - startedMs) / 1000,
    cpu: used - usedBefore,
  }
  appendFileSync(process.env['TESTS_SECONDS'] ?? '', `${JSON.stringify(note)}\n`)
})
