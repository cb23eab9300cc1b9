import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Errand } from '../../../src/keys/life/life.ts'
import { check, checkRecovery } from './explorer-checks.ts'
import { beginWorld, identityOf, next, type Moves, type Seen, type World } from './explorer.ts'

const ALL: readonly Errand[] = [
  'compare',
  'publish',
  'replace',
  'rotate',
  'make-first',
  'abandon',
  'report',
]
const SHARED: readonly Errand[] = ['compare', 'observe', 'rotate', 'abandon']

const transitions = new Map<string, Set<string>>()
const remember = ({ step, action, result, next: then }: Seen): void => {
  const key = [step, action, result].join(' ')
  transitions.set(key, (transitions.get(key) ?? new Set()).add(then))
}

/** Checks every world within so many moves once. @returns how many there are, and whether that is all */
function explore(begin: World, moves: Moves, depth = Infinity) {
  const known = new Set([identityOf(begin)])
  let worlds = [begin]
  for (let level = 0; level < depth && worlds.length > 0; level++) {
    const found: World[] = []
    for (const after of worlds.flatMap((world) => next(world, moves, remember))) {
      const identity = identityOf(after)
      if (known.has(identity)) continue
      known.add(identity)
      check(after)
      checkRecovery(after)
      found.push(after)
    }
    worlds = found
  }
  return { count: known.size, isComplete: worlds.length === 0 }
}

test('a sidecar publishes one key and loses none, in every order of errands, failures and crashes', () => {
  const begin = beginWorld(1, { isPublished: false })
  const found = explore(begin, { keysMax: 2, errands: ALL, isMeddling: false })
  expect(found.isComplete).toBe(true)
  expect(found.count).toBeGreaterThan(10_000)
})

test('a sidecar publishes no key over a foreign or removed one, in every order of events', () => {
  const moves = { keysMax: 1, errands: ALL, isMeddling: true }
  expect(explore(beginWorld(1, { isPublished: true }), moves, 12).count).toBeGreaterThan(4000)
})

test.each([[false], [true]])(
  'two sidecars never sign by a key that the other replaces, begun with a published key: %s',
  (isPublished) => {
    const moves = { keysMax: 2, errands: SHARED, isMeddling: false }
    expect(explore(beginWorld(2, { isPublished }), moves, 12).count).toBeGreaterThan(4000)
  },
)

test('the table in `src/keys/life/README.md` has every transition that the explorer made', () => {
  const columns = ['asked', 'done', 'shown', 'failed', 'stopped']
  const rows = [
    ...new Set([...transitions.keys()].map((key) => key.split(' ').slice(0, 2).join(' '))),
  ]
  const table = rows.map((row) => [
    ...row.split(' '),
    ...columns.map((result) =>
      [...(transitions.get(`${row} ${result}`) ?? [])].toSorted().join(', '),
    ),
  ])
  const readme = readFileSync('src/keys/life/README.md', 'utf8')
  const written = readme
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| ---'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    )
  const byStep = (a: string[], b: string[]): number => (a[0]! < b[0]! ? -1 : 1)
  const head = ['step', 'action', ...columns]
  expect(written.toSorted(byStep)).toEqual([head, ...table].toSorted(byStep))
})
