import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ReplayMemory, SEEN_FOR_MS } from '../../../src/kernel/opening/replay-memory.ts'
import { memoryOf } from '../../../src/store/memory.ts'
import { SeenRows } from '../../../src/store/records/seen.ts'
import type { Store } from '../../../src/store/store.ts'
import { agreeingClocks } from '../../support/judging-clock.ts'
import { open, temporary, testOfFile } from '../../store/support.ts'

const DAY_MS = 86_400_000
const NOW_MS = Date.parse('2026-06-01T00:00:00.000Z')
/** Of before the reach and its margin. */
const OLD_MS = NOW_MS - SEEN_FOR_MS - 2 * DAY_MS

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW_MS })
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

interface Scene {
  store: Store
  load: () => Promise<ReplayMemory>
  clock: ReturnType<typeof agreeingClocks>
  /** How many rows there are, signed and unsigned. */
  counts: () => Promise<number[]>
}

/** A store with rows at these times. */
async function scene(rows: readonly { seenAtMs: number; isSigned: boolean }[]): Promise<Scene> {
  const store = await open(temporary(), { protection: 'none' })
  const clock = agreeingClocks()
  const seen = rows.map((row, n) => ({
    ...row,
    digest: Buffer.from(`row ${n}`),
    kind: 'data' as const,
    chatId: 1,
    messageId: n,
    updateId: n,
    mediaId: null,
    userId: 2,
    datedAtMs: row.seenAtMs,
    repeats: 0,
  }))
  for (let at = 0; at < seen.length; at += 50) {
    await store.write((db) => new SeenRows(db, store.rowSeal).addOwn(seen.slice(at, at + 50)))
  }
  const counts = async (): Promise<number[]> => {
    const left = await store.read((db) => db.selectFrom('seen').select('is_signed').execute())
    return [1, 0].map((kind) => left.filter((row) => row.is_signed === kind).length)
  }
  const parts = { key: Buffer.alloc(32), gaps: [], clock }
  return { store, clock, counts, load: () => ReplayMemory.load(memoryOf(store), parts) }
}

/** Whether memory counts what its reach just has left as seen, also once the clock is set back. */
function isPruned(memory: ReplayMemory): boolean {
  vi.setSystemTime(NOW_MS - DAY_MS)
  const isReached = memory.reaches(NOW_MS - SEEN_FOR_MS - 1)
  vi.setSystemTime(NOW_MS)
  return !isReached
}

const many = (count: number, row: (n: number) => { seenAtMs: number; isSigned: boolean }) =>
  Array.from({ length: count }, (_, n) => row(n))

test.each<[what: string, rows: { seenAtMs: number; isSigned: boolean }[], left: number[]]>([
  ['none', [], [0, 0]],
  ['fewer than a slice', many(3, (n) => ({ seenAtMs: OLD_MS + n, isSigned: true })), [0, 0]],
  ['just a slice', many(100, (n) => ({ seenAtMs: OLD_MS + n, isSigned: true })), [0, 0]],
  ['several slices', many(350, (n) => ({ seenAtMs: OLD_MS + n, isSigned: true })), [0, 0]],
  ['many of one moment', many(350, () => ({ seenAtMs: OLD_MS, isSigned: true })), [0, 0]],
  [
    'unsigned ones that stay, before and between those that go',
    many(500, (n) => ({ seenAtMs: OLD_MS + n, isSigned: n > 250 && n % 2 === 0 })),
    [0, 376],
  ],
  [
    'ones in reach, which stay',
    many(300, (n) => ({ seenAtMs: NOW_MS - SEEN_FOR_MS - DAY_MS + n - 150, isSigned: true })),
    [150, 0],
  ],
])('`prune` of old rows: %s', async (_what, rows, left) => {
  const { load, counts } = await scene(rows)
  const memory = await load()
  await memory.prune(null)
  expect(await counts()).toEqual(left)
  // what may be missing counts as seen: nothing is, where nothing was deleted
  const isAny = rows.length > (left[0] ?? 0) + (left[1] ?? 0)
  expect([memory, await load()].map(isPruned)).toEqual([isAny, isAny])
})

test('`prune` deletes unsigned rows older than every key', async () => {
  const { load, counts } = await scene(
    many(300, (n) => ({ seenAtMs: OLD_MS + n, isSigned: false })),
  )
  await (await load()).prune(OLD_MS + 200)
  expect(await counts()).toEqual([0, 100])
})

testOfFile('a write runs between two slices of a `prune`', async () => {
  const one = await scene(many(350, (n) => ({ seenAtMs: OLD_MS + n, isSigned: true })))
  const pruning = (await one.load()).prune(null)
  const found = await one.store.write((db) => db.selectFrom('seen').select('digest').execute())
  expect(found.length).toBeGreaterThanOrEqual(200)
  expect(found.length).toBeLessThan(350)
  await pruning
  expect(await one.counts()).toEqual([0, 0])
})

test('an interrupted `prune` has deleted whole slices, and the next one deletes the rest', async () => {
  const one = await scene(many(350, (n) => ({ seenAtMs: OLD_MS + n, isSigned: true })))
  const memory = await one.load()
  const note = one.store.note.bind(one.store)
  const struck: Store['note'] = (change, o) =>
    note(async (db) => {
      await change(db)
      throw new Error('struck')
    }, o)
  vi.spyOn(one.store, 'note').mockImplementationOnce(note).mockImplementationOnce(struck)
  await expect(memory.prune(null)).rejects.toThrow('struck')
  expect(await one.counts()).toEqual([250, 0])
  const next = await one.load()
  expect([memory, next].map(isPruned)).toEqual([true, true])
  await next.prune(null)
  expect(await one.counts()).toEqual([0, 0])
})

test('a `prune` whose first slice fails has deleted nothing, and all rows still count', async () => {
  const one = await scene(many(10, (n) => ({ seenAtMs: OLD_MS + n, isSigned: true })))
  const memory = await one.load()
  vi.spyOn(SeenRows.prototype, 'setPrunedBeforeMs').mockRejectedValueOnce(new Error('struck'))
  await expect(memory.prune(null)).rejects.toThrow('struck')
  expect([await one.counts(), isPruned(memory)]).toEqual([[10, 0], false])
  await memory.prune(null)
  expect(isPruned(await one.load())).toBe(true)
})

test('a `prune` ends when the clocks begin to disagree', async () => {
  const one = await scene(many(350, (n) => ({ seenAtMs: OLD_MS + n, isSigned: true })))
  const forget = vi.spyOn(SeenRows.prototype, 'forgetSome')
  vi.spyOn(one.clock, 'agree').mockImplementation(() => forget.mock.calls.length < 2)
  await (await one.load()).prune(null)
  expect(await one.counts()).toEqual([150, 0])
})
