/** What a store reads again, and when, by a database that a test plays. */
import { setImmediate as immediate } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { EpochReader, type EpochReaderParts } from '../../src/replicas/epoch-reader.ts'
import { PostgresError } from '../../src/replicas/failures.ts'
import { FOLLOWED_TABLES } from '../../src/store/store.ts'
import { Mutex } from '../../src/util/scheduling.ts'

const LOST = new PostgresError('lost', 'gone')

/** A store that has read everything up to epoch 5. */
function scene() {
  const database = { epoch: 5 as number | null, changes: [] as [table: string, key: string][] }
  const steps: string[] = []
  const after: number[] = []
  const query = {
    selectFrom: (table: string) => {
      const rows = {
        select: () => rows,
        where: (_column: string, _than: string, epoch: number) => (after.push(epoch), rows),
        execute: async () => {
          steps.push(table)
          return database.changes.map(([relation, key]) => ({ relation, key }))
        },
        executeTakeFirstOrThrow: async () => {
          steps.push(table)
          return { epoch: database.epoch }
        },
      }
      return rows
    },
  }
  const ask = vi.fn(async (text: string): Promise<object[]> => {
    steps.push(/FROM "s".state/.test(text) ? 'epoch' : text)
    return database.epoch === null ? [] : [{ epoch: database.epoch }]
  })
  const presence = { ensure: vi.fn(async () => {}), isHeld: true }
  const note = vi.fn()
  const doubt = vi.fn()
  const timeline = { systemIdentifier: 'a', timelineId: 1 }
  const parts = {
    server: { ask, doubt, timeline, session: { generation: 3 } },
    schema: 's',
    db: query,
    presence,
    order: new Mutex(),
    lastSeen: { note },
    epoch: 5,
  }
  const reader = new EpochReader(parts as unknown as EpochReaderParts)
  const behind: boolean[] = []
  reader.onBehind(() => behind.push(reader.isBehind))
  const read: string[] = []
  for (const table of FOLLOWED_TABLES) {
    reader.follow(table, async (_db, keys) => void read.push(`${table} ${keys.join(' ')}`))
  }
  return {
    reader,
    database,
    steps,
    after,
    ask,
    presence,
    note,
    doubt,
    timeline,
    behind,
    read,
    query,
  }
}

describe('a store that is to be fresh', () => {
  test('reads nothing again where nobody has written, and notes the timeline', async () => {
    const { reader, steps, read, note, timeline, behind } = scene()
    await reader.learn()
    expect([steps, read, reader.seen]).toEqual([['epoch'], [], 5])
    expect(note.mock.calls).toEqual([[{ epoch: 5, timeline }]])
    expect([behind, reader.schema]).toEqual([[false], 's'])
    expect(reader.asked?.generation).toBe(3)
    expect(reader.asked?.atMs).toBeLessThanOrEqual(performance.now())
  })

  test('reads the rows again that others have changed since, in the order of tables', async () => {
    const { reader, database, steps, read, after, note } = scene()
    database.epoch = 7
    const [first, second] = FOLLOWED_TABLES
    database.changes = [
      [second, 'x'],
      [first, 'a'],
      ['other', 'b'],
      [first, 'c'],
    ]
    await reader.learn()
    expect(steps).toEqual(['epoch', 'state', 'changes'])
    expect([read, after, reader.seen]).toEqual([[`${first} a c`, `${second} x`], [5], 7])
    expect(note).toHaveBeenLastCalledWith(expect.objectContaining({ epoch: 7 }))
  })

  test('gives each reader of a table its keys, a thousand at a time', async () => {
    const { reader, database } = scene()
    const counts: number[] = []
    reader.follow('chats', async (_db, keys) => void counts.push(keys.length))
    reader.follow('chats', async (_db, keys) => void counts.push(-keys.length))
    database.epoch = 6
    database.changes = Array.from({ length: 2001 }, (_, n) => ['chats', String(n)])
    await reader.learn()
    expect(counts).toEqual([1000, 1000, 1, -1000, -1000, -1])
  })

  test('shares the next question with all who ask while one runs', async () => {
    const { reader, ask, database } = scene()
    const held = Promise.withResolvers<object[]>()
    ask.mockReturnValueOnce(held.promise)
    const first = reader.learn()
    await immediate()
    const [second, third] = [reader.learn(), reader.learn()]
    await immediate()
    expect([second === third, first === second, ask.mock.calls.length]).toEqual([true, false, 1])
    database.epoch = 6
    held.resolve([{ epoch: 5 }])
    await first
    expect(reader.seen).toBe(5)
    await second
    expect([reader.seen, ask.mock.calls.length]).toEqual([6, 2])
  })

  test('asks again after a question that failed', async () => {
    const { reader, ask, database } = scene()
    ask.mockRejectedValueOnce(LOST)
    await expect(reader.learn()).rejects.toBe(LOST)
    expect(reader.asked).toBeNull()
    database.epoch = 6
    await reader.learn()
    expect([reader.seen, ask.mock.calls.length]).toEqual([6, 2])
  })

  test('asks again while its presence was lost, and not where that cannot be written', async () => {
    const { reader, presence, ask } = scene()
    presence.isHeld = false
    presence.ensure.mockImplementation(async () => {
      presence.isHeld = presence.ensure.mock.calls.length > 1
    })
    await reader.learn()
    expect([presence.ensure.mock.calls.length, ask.mock.calls.length]).toEqual([2, 2])
    presence.ensure.mockRejectedValue(LOST)
    await expect(reader.learn()).rejects.toBe(LOST)
    expect(ask.mock.calls.length).toBe(2)
  })

  test('is damaged where its state is gone', async () => {
    const { reader, database } = scene()
    database.epoch = null
    await expect(reader.learn()).rejects.toMatchObject({
      code: 'store-corrupt',
      message: expect.stringContaining('its state is gone') as string,
    })
  })

  test('has its turn in the order of writes, and knows those of its own that came first', async () => {
    const { reader, database, read, after } = scene()
    database.epoch = 7
    database.changes = [['chats', 'a']]
    const learning = reader.learnUpTo({ seenBefore: 5, epoch: 6 })
    reader.wrote(7)
    await learning
    expect([reader.seen, read, after]).toEqual([7, [], []])
  })
})

describe('a write', () => {
  test('reads everything before it, in its transaction', async () => {
    const { reader, read, database, query, note } = scene()
    database.changes = [['chats', 'a']]
    await reader.learnBefore(6, query as never)
    expect(read).toEqual([])
    await reader.learnBefore(8, query as never)
    expect([read, reader.seen]).toEqual([['chats a'], 7])
    reader.wrote(8)
    expect(reader.seen).toBe(8)
    expect(note).toHaveBeenLastCalledWith(expect.objectContaining({ epoch: 8 }))
  })

  test('is refused where the database is behind what was read', async () => {
    const { reader, query, behind, doubt } = scene()
    const before = reader.learnBefore(5, query as never)
    await expect(before).rejects.toMatchObject({ kind: 'rolled-back' })
    expect([behind, doubt.mock.calls.length]).toEqual([[true], 1])
  })
})

describe('a database that is behind', () => {
  test('is refused and doubted until it holds all that was read', async () => {
    const { reader, database, behind, doubt, note } = scene()
    database.epoch = 4
    await expect(reader.learn()).rejects.toMatchObject({ kind: 'rolled-back' })
    expect([behind, doubt.mock.calls.length, reader.asked]).toEqual([[true], 1, null])
    expect(note).not.toHaveBeenCalled()
    database.epoch = 5
    await reader.learn()
    expect([behind, reader.isBehind, doubt.mock.calls.length]).toEqual([[true, false], false, 1])
  })

  test('is found out by what was known before the question alone', async () => {
    const { reader, database } = scene()
    reader.wrote(9)
    database.epoch = 9
    await reader.learnUpTo({ seenBefore: 5, epoch: 6 })
    expect([reader.seen, reader.isBehind]).toEqual([9, false])
  })

  test('is found out again when its turn has come', async () => {
    const { reader, database, behind, read } = scene()
    database.epoch = 6
    const late = reader.learnUpTo({ seenBefore: 5, epoch: 8 })
    await expect(late).rejects.toMatchObject({ kind: 'rolled-back' })
    expect([behind, read, reader.seen]).toEqual([[false, true], [], 5])
  })
})
