import { sql } from 'kysely'
import { expect, onTestFinished, test, vi } from 'vitest'
import { KnownKeys } from '../../../src/kernel/people/known-keys.ts'
import { testOfFile, open, temporary } from '../../store/support.ts'
import { memoryOf } from '../../../src/store/memory.ts'

const print = (name: string): string => name.padStart(40, '0')
const idOf = (name: string): string => name.padStart(16, '0')
const of = (userId: number, ...keys: string[]) => ({
  userId,
  certificateStatus: { encryptionKeys: keys.map(print) },
})

test('everybody who was ever listed with an encryption key is known, after a restart too', async () => {
  const store = await open(temporary())
  const known = new KnownKeys(memoryOf(store))
  await known.saw('chat 7', [of(1, 'a', 'b'), of(2, 'c')])
  await known.saw('chat 8', [of(3, 'a')])
  // who is not listed any more is known all the same
  await known.saw('chat 7', [of(2, 'c')])
  await known.saw('chat 9', [of(4), of(1, 'a')])
  for (const one of [known, new KnownKeys(memoryOf(store))]) {
    const owners = await one.ownersOf(['a', 'b', 'c', 'x'].map(idOf))
    expect([...owners].map(([keyId, people]) => [keyId, [...people.keys()]])).toEqual([
      [idOf('a'), [1, 3]],
      [idOf('b'), [1]],
      [idOf('c'), [2]],
    ])
    expect([...(await one.ownersOf([idOf('b')])).keys()]).toEqual([idOf('b')])
    expect(await one.ownersOf([])).toEqual(new Map())
  }
})

test('33,000 encryption keys of one list are all stored and found', async () => {
  const store = await open(temporary())
  const known = new KnownKeys(memoryOf(store))
  // SQLite takes 32,766 variables in one
  const names = Array.from({ length: 33_000 }, (_, index) => `${index}`)
  await known.saw('chat 7', [of(1, ...names)])
  expect((await known.ownersOf(names.map(idOf))).size).toBe(33_000)
})

test('a repeated list of encryption keys is not written again, and a changed one is', async () => {
  const store = await open(temporary())
  const note = vi.spyOn(store, 'settle')
  const known = new KnownKeys(memoryOf(store))
  await known.saw('chat 7', [of(1, 'a')])
  await known.saw('chat 7', [of(1, 'a')])
  await known.saw('chat 8', [])
  await known.saw('chat 8', [of(2)])
  expect(note).toHaveBeenCalledTimes(1)
  await known.saw('chat 8', [of(1, 'a')])
  await known.saw('chat 7', [of(2, 'a')])
  expect(note).toHaveBeenCalledTimes(3)
})

testOfFile('half a million pairs of key and person are stored, and no more', async () => {
  const store = await open(temporary())
  const fill = (from: number, to: number) =>
    store.write((db) =>
      sql`WITH RECURSIVE n(i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i < ${to})
        INSERT INTO encryption_keys (key_id, user_id, since) SELECT 'filler', i, 0 FROM n`.execute(
        db,
      ),
    )
  await fill(1, 499_999)
  const known = new KnownKeys(memoryOf(store))
  await known.saw('chat 7', [of(1, 'a')])
  await known.saw('chat 8', [of(1, 'b')])
  expect([...(await known.ownersOf([idOf('a'), idOf('b')])).keys()]).toEqual([idOf('a')])
})

test('the first person who was listed with an encryption key stays the first', async () => {
  const store = await open(temporary())
  const known = new KnownKeys(memoryOf(store))
  vi.useFakeTimers({ toFake: ['Date'], now: 1000 })
  onTestFinished(() => void vi.useRealTimers())
  await known.saw('chat 7', [of(2, 'a')])
  vi.setSystemTime(2000)
  await known.saw('chat 7', [of(1, 'a'), of(2, 'a')])
  expect(await known.ownersOf([idOf('a')])).toEqual(
    new Map([
      [
        idOf('a'),
        new Map([
          [1, 2000],
          [2, 1000],
        ]),
      ],
    ]),
  )
})
