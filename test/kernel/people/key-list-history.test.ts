/** The key lists of a chat: changes in the journal, past listings, and when a list has shrunk. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { Journal } from '../../../src/kernel/people/journal.ts'
import { KeyListHistory } from '../../../src/kernel/people/key-list-history.ts'
import { open, temporary } from '../../store/support.ts'
import { memoryOf } from '../../../src/store/memory.ts'
import { smallMemory } from './small-memory.ts'

const of = (userId: number, fingerprint: string | null) => ({ userId, fingerprint })

async function fresh() {
  const store = await open(temporary())
  const journal = new Journal(memoryOf(store))
  const told: unknown[] = []
  journal.onChange((change) => told.push(change))
  return { store, told, history: new KeyListHistory(memoryOf(store), journal), journal }
}

const changed = (chatId: number, detail: object): object => ({
  kind: 'recipients-changed',
  chatId,
  detail: { count: 0, added: [], removed: [], changed: [], ...detail },
})

test('the first list of a chat is no change, and each later one is journalled by additions and removals', async () => {
  const { history, told } = await fresh()
  await history.saw(7, [of(2, 'b'), of(1, 'a'), of(3, null)])
  await history.saw(8, [of(1, 'a')])
  expect(told).toEqual([])
  await history.saw(7, [of(1, 'a'), of(4, 'd'), of(3, 'c')])
  await history.saw(7, [])
  expect(told).toEqual([
    changed(7, { count: 3, added: [4], removed: [2], changed: [3] }),
    changed(7, { count: 0, removed: [1, 3, 4] }),
    { kind: 'list-shrank', chatId: 7, detail: { from: 3, to: 0 } },
  ])
})

test('people on the first list count as listed from the start, and later ones since their listing', async () => {
  const { history, store, told } = await fresh()
  vi.useFakeTimers({ toFake: ['Date'], now: 1000 })
  onTestFinished(() => void vi.useRealTimers())
  const usable = (userId: number, fingerprint: string) => ({
    ...of(userId, fingerprint),
    unusable: null,
  })
  const expired = (userId: number, fingerprint: string) => ({
    ...of(userId, fingerprint),
    unusable: 'expired',
  })
  await history.saw(7, [usable(1, 'a'), expired(2, 'b')])
  vi.setSystemTime(2000)
  await history.saw(7, [usable(1, 'a'), usable(2, 'b'), usable(3, 'c')])
  expect(told, 'the same people with the same certificates are no change').toHaveLength(1)
  vi.setSystemTime(3000)
  await history.saw(7, [usable(1, 'x'), usable(3, 'c')])
  vi.setSystemTime(4000)
  await history.saw(7, [usable(1, 'a'), usable(3, 'c')])
  const all = [
    [1, 'a', 0],
    [2, 'b', 2000],
    [3, 'c', 2000],
    [1, 'x', 3000],
  ]
  expect(await history.everListed(7)).toEqual(all)
  expect(
    await new KeyListHistory(memoryOf(store), new Journal(memoryOf(store))).everListed(7),
  ).toEqual(all)
  expect(await history.everListed(8)).toEqual([])
})

/** @returns what was told of the sizes of one chat's list, one list after the other */
async function shrinking(...sizes: number[]): Promise<unknown[]> {
  const { history, told } = await fresh()
  for (const size of sizes) {
    await history.saw(
      7,
      Array.from({ length: size }, (_, index) => of(index + 1, 'a')),
    )
  }
  return (told as { kind: string; detail: unknown }[])
    .filter(({ kind }) => kind === 'list-shrank')
    .map(({ detail }) => detail)
}

test('a list that loses half of its people, at once or one by one, is journalled as shrunk once', async () => {
  expect(await shrinking(4, 2, 1)).toEqual([{ from: 4, to: 2 }])
  expect(await shrinking(6, 5, 4, 3, 2)).toEqual([{ from: 6, to: 3 }])
  expect(await shrinking(2, 8, 4, 8, 4)).toEqual([
    { from: 8, to: 4 },
    { from: 8, to: 4 },
  ])
})

test('a list that loses fewer than half of its people, or grows, is not journalled as shrunk', async () => {
  expect(await shrinking(2, 1)).toEqual([])
  expect(await shrinking(10, 6, 9)).toEqual([])
  expect(await shrinking(1, 5, 9)).toEqual([])
})

test('the same people in another order are the same list, after a restart too', async () => {
  const { history, store, journal, told } = await fresh()
  await history.saw(7, [of(10, 'a'), of(9, 'b'), of(9, 'b')])
  const [read, write] = [vi.spyOn(store, 'read'), vi.spyOn(store, 'note')]
  await history.saw(7, [of(9, 'b'), of(10, 'a')])
  expect(read).not.toHaveBeenCalled()
  await new KeyListHistory(memoryOf(store), journal).saw(7, [of(9, 'b'), of(10, 'a')])
  expect([told, write.mock.calls]).toEqual([[], []])
})

test('a journal entry names a hundred people of a changed list, and counts all', async () => {
  const { history, told } = await fresh()
  const people = (print: string, from: number) =>
    Array.from({ length: 150 }, (_, index) => of(from + index, print))
  const ids = (from: number): number[] => Array.from({ length: 100 }, (_, index) => from + index)
  await history.saw(7, people('a', 1))
  await history.saw(7, people('b', 1))
  await history.saw(7, people('b', 1000))
  expect(told).toEqual([
    changed(7, { count: 150, changed: ids(1) }),
    changed(7, { count: 150, added: ids(1000), removed: ids(1) }),
  ])
})

test('a contradictory list is journalled once, and again with another reason or after a good list', async () => {
  const { history, told } = await fresh()
  for (const [chatId, why] of [
    [7, 'it names the bot'],
    [7, 'it names the bot'],
    [8, 'it names the bot'],
    [7, 'two keys for person 1'],
  ] as const) {
    await history.contradicts(chatId, { why })
  }
  await history.saw(7, [of(1, 'a')])
  await history.contradicts(7, { why: 'two keys for person 1' })
  const told7 = { kind: 'list-contradicts', chatId: 7 }
  expect(told).toEqual([
    { ...told7, detail: { why: 'it names the bot' } },
    { ...told7, chatId: 8, detail: { why: 'it names the bot' } },
    { ...told7, detail: { why: 'two keys for person 1' } },
    { ...told7, detail: { why: 'two keys for person 1' } },
  ])
})

const usable = (userId: number) => ({ userId, fingerprint: 'a', unusable: null })
const listOf = (size: number) => Array.from({ length: size }, (_, n) => usable(n + 1))

/** @param kept what is on disk */
function scene(kept?: { people: string; ever: string }) {
  const disk = { kept }
  const small = smallMemory({
    'keyLists.of': () => disk.kept,
    'keyLists.save': async (_: number, list: typeof kept) => void (disk.kept = list),
  })
  const journal = new Journal(small.memory)
  return { history: new KeyListHistory(small.memory, journal), disk, ...small }
}
const everOf = (disk: { kept?: { ever: string } | undefined }): unknown[] =>
  JSON.parse(disk.kept?.ever ?? '[]') as unknown[]

test('a chat has 5000 past listings, and a new one displaces the oldest that is no longer listed', async () => {
  for (const before of [4999, 5000]) {
    const ever = JSON.stringify(listOf(before).map(({ userId }) => [userId, 'a', 0]))
    const { history, disk } = scene({ people: '[]', ever })
    await history.saw(7, [usable(1), usable(9999)])
    const [first, second] = everOf(disk)
    expect([everOf(disk).length, first, second]).toEqual([
      5000,
      [1, 'a', 0],
      [before === 4999 ? 2 : 3, 'a', 0],
    ])
  }
})

test('past listings below the bound are all kept, however short the list is', async () => {
  const ever = JSON.stringify(listOf(3000).map(({ userId }) => [userId, 'a', 0]))
  const { history, disk } = scene({ people: '[]', ever })
  await history.saw(7, [usable(9999)])
  expect(everOf(disk)).toHaveLength(3001)
})

test('a list whose usable certificates alone changed is stored without a journal entry', async () => {
  const { history, disk, written } = scene({ people: '[[1,"a"]]', ever: '[]' })
  await history.saw(7, [usable(1)])
  expect(everOf(disk)).toEqual([[1, 'a', 0]])
  expect(written).toEqual([])
})

test.each([
  ['within a day', [6, 0], [5, 1], [3, 86_399_999], true],
  ['in a day and more', [6, 0], [5, 0], [3, 86_400_000], false],
  ['in steps, of which the first is a day ago', [6, 0], [5, 80_000_000], [3, 90_000_000], false],
])(
  'a list that loses half of its people %s: `list-shrank` is %s',
  async (_, first, second, third, hasShrunk) => {
    const { history, written, state } = scene()
    await history.saw(7, listOf(first[0]!))
    await history.saw(7, listOf(6).slice(1).concat(usable(9)))
    for (const [size, nowMs] of [second, third]) {
      state.nowMs = nowMs!
      await history.saw(7, listOf(size!))
    }
    const kinds = written.map(([, entry]) => (entry as { kind: string }).kind)
    expect(kinds.includes('list-shrank')).toBe(hasShrunk)
  },
)
