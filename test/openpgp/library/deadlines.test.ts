import { expect, onTestFinished, test, vi } from 'vitest'
import { DEADLINES_MS, Library } from '../../../src/openpgp/library/library.ts'
import { Pool } from '../../../src/openpgp/pool.ts'

const nothing = {} as never
const JOBS: Record<string, [deadline: keyof typeof DEADLINES_MS, ask: (of: Library) => unknown]> = {
  open: ['open', (library) => library.open(nothing, [])],
  unwrap: ['open', (library) => library.fileOpeningHelpers([]).unwrap(nothing)],
  openWhole: [
    'attachment',
    (library) => library.fileOpeningHelpers([]).openWhole(nothing, nothing),
  ],
  unpackWhole: ['attachment', (library) => library.fileOpeningHelpers([]).unpackWhole(nothing)],
  verify: ['verify', (library) => library.verify({ signatures: [] } as never, '', { nowMs: 0 })],
  judge: ['judge', (library) => library.judgeForNative('', 0)],
  generate: ['own', (library) => library.generate(nothing)],
  unlock: ['own', (library) => library.unlock('', '')],
  relock: ['own', (library) => library.relock(nothing, nothing)],
  adopt: ['own', (library) => library.adopt(nothing, nothing)],
  describeOwnKey: ['own', (library) => library.describe(nothing, 0)],
}

test.each(Object.entries(JOBS))(
  '%s ends at the deadline of the table',
  async (job, [name, ask]) => {
    const run = vi.spyOn(Pool.prototype, 'run').mockResolvedValue(nothing)
    onTestFinished(() => run.mockRestore())
    await using library = new Library({}, {})
    await ask(library)
    expect(run.mock.lastCall?.[0]).toBe(job)
    expect(run.mock.lastCall?.[2]).toBe(DEADLINES_MS[name])
  },
)
