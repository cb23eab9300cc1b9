import type { Kysely } from 'kysely'
import { expect, test } from 'vitest'
import { Journal, type TrustChange } from '../../../src/kernel/people/journal.ts'
import { changeRows } from '../../../src/store/records/rows.ts'
import type { Schema } from '../../../src/store/schema.ts'
import type { Store } from '../../../src/store/store.ts'
import { testOfFile, flags, open, put, temporary } from '../../store/support.ts'
import { memoryOf } from '../../../src/store/memory.ts'

const ALL = { afterId: 0, sinceMs: 0, limit: 100 }
const blocked = (userId: number): TrustChange => ({ kind: 'blocked', userId, detail: {} })
const withdrawn = (userId: number): TrustChange => ({
  kind: 'key-withdrawn',
  userId,
  detail: { from: 'f', standing: 'seen' },
})
const policy: TrustChange = { kind: 'policy', chatId: 9, detail: { policy: 'pinned' } }

async function fresh(): Promise<{ store: Store; journal: Journal; told: TrustChange[] }> {
  const store = await open(temporary(), { protection: 'none' })
  const journal = new Journal(memoryOf(store))
  const told: TrustChange[] = []
  journal.onChange((change) => told.push(change))
  return { store, journal, told }
}

test('the journal returns changes in the order of their writing, and announces them', async () => {
  const { journal, told } = await fresh()
  const startMs = Date.now()
  await journal.record([blocked(1), policy])
  const entries = await journal.read(ALL)
  expect(entries).toEqual([
    { id: 1, atMs: expect.any(Number), kind: 'blocked', userId: 1, chatId: null, detail: {} },
    {
      id: 2,
      atMs: expect.any(Number),
      kind: 'policy',
      userId: null,
      chatId: 9,
      detail: { policy: 'pinned' },
    },
  ])
  expect(entries.every(({ atMs }) => atMs >= startMs && atMs <= Date.now())).toBe(true)
  expect(told).toEqual([blocked(1), policy])
})

test('a read of the journal is bounded by id, time and number of entries', async () => {
  const { store, journal } = await fresh()
  await journal.record([1, 2, 3, 4].map(blocked))
  const ids = async (from: Partial<typeof ALL>): Promise<number[]> =>
    (await journal.read({ ...ALL, ...from })).map(({ id }) => id)
  expect(await ids({ afterId: 2 })).toEqual([3, 4])
  expect(await ids({ limit: 3 })).toEqual([1, 2, 3])
  await store.write(async (db) => {
    for (const id of [1, 2, 3, 4]) await changeRows(db, 'journal', { id }, { at: id * 10 })
  })
  expect(await ids({ sinceMs: 30 })).toEqual([3, 4])
  expect(await ids({ sinceMs: 31 })).toEqual([4])
})

test('an effect and its journal entry are written together or not at all, and then announced', async () => {
  const { store, journal, told } = await fresh()
  const failing = journal.record([blocked(1)], async ({ chats }) => {
    await chats.setPrivateReadable(1)
    throw new Error('stop')
  })
  await expect(failing).rejects.toThrow('stop')
  expect([await journal.read(ALL), await flags(store), told]).toEqual([[], {}, []])
  await journal.record([blocked(1)], async ({ chats }) => {
    await chats.setPrivateReadable(1)
  })
  expect(await flags(store)).toEqual({ private_readable_since: '1' })
})

testOfFile(
  'the oldest entries beyond half a million go, but decisions and first changes',
  async () => {
    const { store, journal } = await fresh()
    await put(store, 'unrelated', 'kept')
    await journal.record([blocked(1), withdrawn(2), withdrawn(2), policy])
    await store.write((db) => changeRows(db, 'journal', { id: 4 }, { id: 500_999 }))
    const place = (to: number) => (db: Kysely<Schema>) =>
      changeRows(db, 'journal', { id: 1 }, { place: to })
    await store.write(place(2))
    await journal.record([blocked(5)])
    const ids = async () => (await journal.read(ALL)).map(({ id }) => id)
    expect(await ids()).toEqual([1, 2, 3, 500_999, 501_000])
    await store.write(place(0))
    await store.write((db) => changeRows(db, 'journal', { id: 501_000 }, { id: 501_999 }))
    await journal.record([blocked(5)])
    expect(await ids()).toEqual([1, 2, 500_999, 501_999, 502_000])
  },
)

test('repeated changes of a person are summed up after eight entries', async () => {
  const { journal, told } = await fresh()
  for (let n = 0; n < 12; n++) await journal.record([withdrawn(2), blocked(2)])
  await journal.record([withdrawn(3)])
  await journal.settle()
  const entries = (await journal.read(ALL)).filter(({ kind }) => kind === 'key-withdrawn')
  expect(entries.map(({ userId, detail }) => [userId, detail['times']])).toEqual([
    ...Array.from({ length: 8 }, () => [2, undefined]),
    [3, undefined],
    [2, 4],
  ])
  expect(told).toHaveLength(25)
  await journal.record([withdrawn(2)])
  expect((await journal.read({ ...ALL, afterId: 22 })).map(({ userId }) => userId)).toEqual([2])
})

test('repeated changes without a person are not summed up', async () => {
  const { journal } = await fresh()
  const place = { kind: 'approval-asked', chatId: 9, userId: null } as const
  const details = Array.from({ length: 12 }, (_, n) => ({ entry: `entry ${n}`, digest: 'd' }))
  for (const detail of details) await journal.record([{ ...place, detail }])
  await journal.settle()
  expect((await journal.read(ALL)).map(({ detail }) => detail)).toEqual(details)
})
