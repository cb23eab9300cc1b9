/** What a store reads again, and when, by a database that a test plays. */
import { setImmediate as immediate } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { EpochReader, type EpochReaderParts } from '../../../src/store/postgres/epoch-reader.ts'
import { FOLLOWED_TABLES } from '../../../src/store/store.ts'
import { Mutex } from '../../../src/util/scheduling.ts'

/** A store that has read everything up to epoch 5. */
function scene() {
  const database = { epoch: 5, changes: [] as [table: string, key: string][] }
  const after: number[] = []
  const query = {
    selectFrom: () => {
      const rows = {
        select: () => rows,
        where: (_column: string, _than: string, epoch: number) => (after.push(epoch), rows),
        execute: async () => database.changes.map(([relation, key]) => ({ relation, key })),
        executeTakeFirstOrThrow: async () => ({ epoch: database.epoch }),
      }
      return rows
    },
  }
  const ask = vi.fn(async (): Promise<object[]> => [{ epoch: database.epoch }])
  const parts = {
    server: { ask, doubt: () => {}, timeline: null, session: { generation: 3 } },
    schema: 's',
    db: query,
    presence: { ensure: async () => {}, isHeld: true },
    order: new Mutex(),
    lastSeen: { note: () => {} },
    epoch: 5,
  }
  const reader = new EpochReader(parts as unknown as EpochReaderParts)
  const behind: boolean[] = []
  reader.onBehind(() => behind.push(reader.isBehind))
  const read: string[] = []
  for (const table of FOLLOWED_TABLES) {
    reader.follow(table, async (_db, keys) => void read.push(`${table} ${keys.join(' ')}`))
  }
  return { reader, database, after, ask, behind, read }
}

describe('`EpochReader.learn`', () => {
  test('`EpochReader` shares the next epoch query among all callers that wait', async () => {
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

  test('`EpochReader` queues behind a write and skips the rows of its own write', async () => {
    const { reader, database, read, after } = scene()
    database.epoch = 7
    database.changes = [['chats', 'a']]
    const learning = reader.learnUpTo({ seenBefore: 5, epoch: 6 })
    reader.wrote(7)
    await learning
    expect([reader.seen, read, after]).toEqual([7, [], []])
  })
})

describe('`EpochReader` with a database that is behind', () => {
  test('`EpochReader` compares the epoch with the epoch known before the query', async () => {
    const { reader, database } = scene()
    reader.wrote(9)
    database.epoch = 9
    await reader.learnUpTo({ seenBefore: 5, epoch: 6 })
    expect([reader.seen, reader.isBehind]).toEqual([9, false])
  })

  test('`EpochReader` compares the epoch again once the lock is free', async () => {
    const { reader, database, behind, read } = scene()
    database.epoch = 6
    const late = reader.learnUpTo({ seenBefore: 5, epoch: 8 })
    await expect(late).rejects.toMatchObject({ kind: 'rolled-back' })
    expect([behind, read, reader.seen]).toEqual([[false, true], [], 5])
  })
})
