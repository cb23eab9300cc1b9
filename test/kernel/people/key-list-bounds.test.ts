/** How long listings of a chat are known, and when a list counts as shrunk. */
import { describe, expect, test } from 'vitest'
import { Journal } from '../../../src/kernel/people/journal.ts'
import { KeyListHistory } from '../../../src/kernel/people/key-list-history.ts'
import { smallMemory } from './small-memory.ts'

describe('the list of a chat', () => {
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
})
