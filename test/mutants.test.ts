import { readFileSync } from 'node:fs'
import type { Mutant } from '@stryker-mutator/api/core'
import { Instrumenter } from '@stryker-mutator/instrumenter'
import { beforeAll, describe, expect, it } from 'vitest'
import { addMutators } from './support/mutants-mutators.ts'
import { equivalentsIn } from './support/mutants-equivalents.ts'
import { foldersBelow, score } from './support/mutants-report.ts'
import { chosenLines, countLines, sourcesOfDiff } from './support/mutants-since.ts'

const OURS = ['Number', 'Entry', 'Await', 'Default', 'Call']

async function changesOf(content: string): Promise<string[]> {
  const silent = (): void => {}
  const logger = { debug: silent, info: silent, isDebugEnabled: () => false } as never
  const { mutants } = await new Instrumenter(logger).instrument(
    [{ name: 'src/a.ts', mutate: true, content }],
    { ignorers: [], excludedMutations: [], plugins: null, noHeader: false },
  )
  const ours = mutants.filter(({ mutatorName }) => OURS.includes(mutatorName))
  return ours.map(({ replacement }) => replacement.replace(/\s+/g, ' '))
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

describe.each(Object.entries(CHANGES))('%s', (name, [code, changes]) => {
  it(`the mutants of ${name} are the listed ones`, async () => {
    expect(await changesOf(code)).toEqual(changes)
  })
})

describe('sourcesOfDiff', () => {
  it('`sourcesOfDiff` lists the changed lines by file', () => {
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

describe('chosenLines', () => {
  const changed = ['a', 'b', 'c', 'd'].map((name) => ({
    path: `src/${name}.ts`,
    lines: [
      { from: 3, to: 4 },
      { from: 10, to: 17 },
    ],
  }))

  it('`chosenLines` keeps all lines of a small change', () => {
    expect(countLines(changed)).toBe(40)
    const kept = chosenLines(changed, 40, 'seed')
    expect(kept.toSorted((one, other) => (one.path < other.path ? -1 : 1))).toEqual(changed)
  })

  it('`chosenLines` bounds a large change, in few files, by a seed', () => {
    const chosen = chosenLines(changed, 13, 'seed')
    expect(countLines(chosen)).toBe(13)
    expect(chosen.map(({ lines }) => lines)).toEqual([
      [
        { from: 3, to: 4 },
        { from: 10, to: 17 },
      ],
      [
        { from: 3, to: 4 },
        { from: 10, to: 10 },
      ],
    ])
    expect(chosenLines(changed, 13, 'seed')).toEqual(chosen)
    const seeds = Array.from({ length: 20 }, (_, seed) => chosenLines(changed, 10, `${seed}`))
    expect(new Set(seeds.map(([first]) => first?.path)).size).toBe(4)
  })
})

describe('the score', () => {
  const changes = (count: number, folder: string): Mutant[] =>
    Array.from({ length: count }, () => ({ fileName: `src/${folder}/a.ts` }) as Mutant)

  it.each<[string, number, number, string, string[]]>([
    ['kernel', 20, 2, 'all: 90 % (18 of 20)', []],
    ['kernel', 20, 3, 'all: 85 % (17 of 20)', ['kernel']],
    ['kernel', 19, 19, 'all: 0 % (0 of 19)', []],
    ['store', 20, 3, 'all: 85 % (17 of 20)', []],
    ['store', 20, 4, 'all: 80 % (16 of 20)', ['store']],
    ['http', 20, 4, 'all: 80 % (16 of 20)', ['http']],
    ['cli', 20, 20, 'all: 0 % (0 of 20)', []],
    ['kernel', 0, 0, 'all: 100 % (0 of 0)', []],
  ])(
    'the score of %s with %d mutants and %d survivors is %s',
    (folder, count, surviving, line, below) => {
      const tried = changes(count, folder)
      const survivors = new Set(tried.slice(0, surviving))
      expect([score('all', tried, survivors), foldersBelow(tried, survivors)]).toEqual([
        line,
        below,
      ])
    },
  )
})

describe('mutants-equivalent.txt', () => {
  const listed = equivalentsIn()

  it('mutants-equivalent.txt names present code, and a reason for each mutant', () => {
    const wrong = listed.filter(({ file, change, reason }) => {
      const lines = readFileSync(file, 'utf8').split('\n')
      const isThere = lines.some((line) => change.startsWith(`${line.trim()}: `))
      return reason === '' || !isThere
    })
    expect(wrong).toEqual([])
  })

  it('mutants-equivalent.txt is parsed by indentation', () => {
    const text = '# words\nsrc/a.ts\n  a < b → a <= b\n    Never\n    equal.\n  a → b\n    Why.\n'
    expect(equivalentsIn(text)).toEqual([
      { file: 'src/a.ts', change: 'a < b → a <= b', reason: 'Never equal.' },
      { file: 'src/a.ts', change: 'a → b', reason: 'Why.' },
    ])
    expect(() => equivalentsIn('  a → b')).toThrow('no known form')
  })
})
