import { compileFunction } from 'node:vm'
import { Instrumenter } from '@stryker-mutator/instrumenter'
import { beforeAll, describe, expect, it } from 'vitest'
import { withLateConstants } from './support/mutants-constants.ts'
import { addMutators } from './support/mutants-mutators.ts'
import { sourcesOfDiff } from './support/mutants-since.ts'

const OURS = ['Number', 'Entry', 'Await', 'Default', 'Call']

async function instrumented(content: string): Promise<{ text: string; changes: string[] }> {
  const silent = (): void => {}
  const logger = { debug: silent, info: silent, isDebugEnabled: () => false } as never
  const { files, mutants } = await new Instrumenter(logger).instrument(
    [{ name: 'src/a.ts', mutate: true, content }],
    { ignorers: [], excludedMutations: [], plugins: null, noHeader: false },
  )
  const ours = mutants.filter(({ mutatorName }) => OURS.includes(mutatorName))
  const changes = ours.map(({ replacement }) => replacement.replace(/\s+/g, ' '))
  return { text: files[0]?.content ?? '', changes }
}

beforeAll(addMutators)

const CHANGES: Record<string, [code: string, changes: string[]]> = {
  'a number that is compared': ['f(() => a < 1000)', [';', '2000', '500']],
  'a small number': ['const f = (a) => a === 2', ['3']],
  'a number that is neither compared nor declared': ['const f = (a) => g(7)', []],
  'a constant': ['const A_MS = 72 * 3600', ['144', '36', '7200', '1800']],
  'a table': ["const T = { a: 'x', b: 'y' }", ["{ b: 'y' }", "{ a: 'x' }"]],
  'a list': ["const L = new Set(['x', 'y'])", ["['y']", "['x']"]],
  'a statement that waits': ['async () => { await a() }', [';', 'void a()']],
  'a value that is waited for': ['const f = async () => { if (await a()) b = c }', ['a()']],
  'a promise that is returned': ['const f = async () => { return await a() }', []],
  'a default that is no number': ['const f = (a = b) => a', ['undefined']],
  'a default number': ['const f = (a = 4) => a', ['5']],
  'a call without a result': ['function f() { g.h(a) }', [';']],
}

describe.each(Object.entries(CHANGES))('%s', (_name, [code, changes]) => {
  it('is changed in its way', async () => {
    expect((await instrumented(code)).changes).toEqual(changes)
  })
})

describe('a constant of a module', () => {
  it('is evaluated again for each change', async () => {
    const { text } = await instrumented('const LATE_MS = 1000\nreturned.push(() => LATE_MS)')
    const late = withLateConstants([['src/a.ts', text]])[0]?.[1] ?? ''
    const returned: (() => number)[] = []
    compileFunction(late, ['returned'])(returned)
    const switches = ((
      globalThis as { __stryker__?: { activeMutant?: string | undefined } }
    ).__stryker__ ??= {})
    const read = (activeMutant?: string): number | undefined => {
      switches.activeMutant = activeMutant
      return returned[0]?.()
    }
    expect([read(), read('0'), read('1'), read()]).toEqual([1000, 2000, 500, 1000])
  })
})

describe('sourcesOfDiff', () => {
  it('names the lines that are there now, by file', () => {
    const diff = [
      'diff --git src/a.ts src/a.ts',
      '--- src/a.ts',
      '+++ src/a.ts',
      '@@ -3 +3,2 @@ f',
      '@@ -9,2 +10,0 @@ f',
      '@@ -20 +20 @@ f',
      'diff --git src/b.ts src/b.ts',
      '--- src/b.ts',
      '+++ /dev/null',
      '@@ -1,4 +0,0 @@',
    ].join('\n')
    const lines = [
      { from: 3, to: 4 },
      { from: 20, to: 20 },
    ]
    expect(sourcesOfDiff(diff)).toEqual([{ path: 'src/a.ts', lines }])
  })
})
