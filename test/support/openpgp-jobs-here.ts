/** An engine without threads: what they would do is done in the test's own process. */
import { afterAll, beforeAll, vi } from 'vitest'
import type { MeasuredEngine } from '../../src/openpgp/checker.ts'
import { createEngine, type EngineOptions } from '../../src/openpgp/create.ts'
import { JOBS } from '../../src/openpgp/library/worker.ts'
import { Pool } from '../../src/openpgp/pool.ts'

/** For all tests of a file. Arguments and results are structured clones. */
export function useEngineHere(options: EngineOptions = {}): MeasuredEngine {
  const engine = createEngine({ threads: 1, ...options })
  const jobs: Record<string, ((...args: never[]) => unknown) | undefined> = JOBS
  beforeAll(() => {
    vi.spyOn(Pool.prototype, 'run').mockImplementation(async (name: string, args: unknown[]) => {
      const job = jobs[name]
      if (job === undefined) throw new Error(`${name} is no job of the library`)
      return structuredClone(await job(...(structuredClone(args) as never[])))
    })
  })
  afterAll(async () => {
    vi.restoreAllMocks()
    await engine[Symbol.asyncDispose]()
  })
  return engine
}
