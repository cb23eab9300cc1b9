import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  bindPerson,
  correctKind,
  liftLatches,
  liftPrivateChats,
} from '../../../src/kernel/wall/chat-decisions.ts'
import { KnownChats } from '../../../src/kernel/wall/known-chats.ts'
import { flags, open, put, temporary } from '../../store/support.ts'
import { memoryOf } from '../../../src/store/memory.ts'

/** Known chats, of which at most three are remembered. */
async function small() {
  const onFull = vi.fn()
  const store = await open(temporary())
  const load = async () => {
    const loaded = await KnownChats.load(memoryOf(store), { maxChats: 3 })
    loaded.onFull(onFull)
    return loaded
  }
  return { knownChats: await load(), load, onFull }
}

test('a chat beyond `maxChats` displaces none, is refused, and reported', async () => {
  const { knownChats, load, onFull } = await small()
  await knownChats.saw([{ chatId: 1, kind: 'private' }])
  await knownChats.saw([{ chatId: 1, userId: 11 }])
  await knownChats.saw([{ chatId: 2, kind: 'group', isProtected: true }])
  for (let chatId = 100; chatId < 110; chatId++) {
    await knownChats.saw([{ chatId, kind: 'channel' }]).catch(() => undefined)
  }
  expect(onFull).toHaveBeenCalledTimes(9)
  for (const one of [knownChats, await load()]) {
    expect(one.all.map(({ id }) => id)).toEqual([1, 2, 100])
    expect([one.personOf(1), one.isLatched(2)]).toEqual([11, true])
  }
})

test('a sighting of a chat beyond `maxChats` is refused with the number of chats', async () => {
  const { knownChats } = await small()
  await knownChats.saw([1, 2, 3].map((chatId) => ({ chatId, kind: 'group' })))
  const code = 'postern_store_unwritable'
  await expect(knownChats.saw([{ chatId: 4, kind: 'private' }])).rejects.toMatchObject({ code })
  await expect(knownChats.saw([{ chatId: 4, isProtected: true }])).rejects.toMatchObject({
    code,
    message: expect.stringContaining('no more than 3 chats are remembered') as unknown,
  })
  const seen = { chatId: 4, kind: 'channel', isProtected: false }
  await expect(knownChats.saw([seen])).rejects.toMatchObject({ code })
})

test('sightings of known chats are recorded beside one that is refused', async () => {
  const { knownChats } = await small()
  await knownChats.saw([1, 2, 3].map((chatId) => ({ chatId, kind: 'group' })))
  const seen = [
    { chatId: 4, kind: 'private' },
    { chatId: 3, kind: 'private' },
  ]
  await expect(knownChats.saw(seen)).rejects.toThrow()
  expect([knownChats.isPrivate(3), knownChats.get(4)]).toEqual([true, undefined])
  await knownChats.saw([{ chatId: 2, isProtected: true }])
  expect(knownChats.isLatched(2)).toBe(true)
})

test.each([
  [['channel', 'group', 'channel'], 'group'],
  [['group', 'channel'], 'group'],
  [['group', 'bazaar'], 'group'],
  [['channel', 'bazaar'], 'bazaar'],
  [['group', 'private', 'group'], 'private'],
  [['private', 'channel'], 'private'],
])('a chat observed as %j is judged as %s, in one sighting or several', async (kinds, kind) => {
  const { knownChats } = await small()
  await knownChats.saw(kinds.map((one) => ({ chatId: 1, kind: one })))
  for (const one of kinds) await knownChats.saw([{ chatId: 2, kind: one, isProtected: false }])
  expect([1, 2].map((chatId) => knownChats.get(chatId)?.kind)).toEqual([kind, kind])
})

test('the person of a private chat is the first one, also of concurrent sightings', async () => {
  const { knownChats, load } = await small()
  await knownChats.saw([{ chatId: 1, kind: 'private' }])
  await Promise.all([11, 12].map((userId) => knownChats.saw([{ chatId: 1, userId }])))
  await knownChats.saw([{ chatId: 1, userId: 13 }])
  for (const one of [knownChats, await load()]) expect(one.personOf(1)).toBe(11)
})

test('`bindPerson` changes the person of a private chat, and of no other chat', async () => {
  const { knownChats, load } = await small()
  await knownChats.saw([
    { chatId: 1, kind: 'private' },
    { chatId: 2, kind: 'group' },
  ])
  await knownChats.saw([{ chatId: 1, userId: 11 }])
  expect(
    await Promise.all([1, 2, 3].map((chatId) => bindPerson(knownChats, { chatId, userId: 12 }))),
  ).toEqual([true, false, false])
  for (const one of [knownChats, await load()]) expect(one.personOf(1)).toBe(12)
})

describe('sightings', () => {
  /** Known chats, and how often they were written. */
  async function watched() {
    const store = await open(temporary())
    const knownChats = await KnownChats.load(memoryOf(store))
    const [write, settle] = [vi.spyOn(store, 'write'), vi.spyOn(store, 'settle')]
    const writes = (): number => write.mock.calls.length + settle.mock.calls.length
    return { store, knownChats, writes }
  }

  test('a known chat is latched by its first protected sighting, and stays latched', async () => {
    const { knownChats, store } = await watched()
    const seen = { chatId: 1, kind: 'group', isProtected: false }
    await knownChats.saw([seen])
    expect(knownChats.isLatched(1)).toBe(false)
    await knownChats.saw([{ ...seen, isProtected: true }])
    for (const one of [knownChats, await KnownChats.load(memoryOf(store))])
      expect(one.isLatched(1)).toBe(true)
    await knownChats.saw([seen])
    expect(knownChats.isLatched(1)).toBe(true)
  })

  test('a latched chat of unknown kind becomes private when observed so', async () => {
    const { knownChats } = await watched()
    await knownChats.saw([{ chatId: 1, isProtected: true }])
    expect(knownChats.get(1)?.kind).toBe('unknown')
    await knownChats.saw([{ chatId: 1, kind: 'private', isProtected: true }])
    expect([knownChats.isPrivate(1), knownChats.isLatched(1)]).toEqual([true, true])
  })

  test('a repeated sighting or refusal writes nothing and changes no time', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1000 })
    onTestFinished(() => void vi.useRealTimers())
    const { knownChats, writes } = await watched()
    const see = async () => {
      await knownChats.saw([{ chatId: 1, kind: 'private' }])
      await knownChats.saw([{ chatId: 1, userId: 11 }])
      await knownChats.saw([{ chatId: 1, isProtected: true }])
      await knownChats.saw([{ chatId: 1, kind: 'private', isProtected: true }])
      await knownChats.refused(1)
    }
    await see()
    const [before, first] = [writes(), knownChats.get(1)]
    expect(first).toEqual({
      id: 1,
      kind: 'private',
      personId: 11,
      latchedAtMs: 1000,
      refusedAtMs: 1000,
    })
    vi.setSystemTime(2000)
    await see()
    expect([writes(), knownChats.get(1)]).toEqual([before, first])
  })

  test('two concurrent sightings keep the first time', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1000 })
    onTestFinished(() => void vi.useRealTimers())
    const { knownChats, store } = await watched()
    const twice = async (see: () => Promise<void>): Promise<void> => {
      await Promise.all([see(), see().then(() => vi.setSystemTime(2000))])
    }
    await twice(() => knownChats.saw([{ chatId: 1, isProtected: true }]))
    vi.setSystemTime(1000)
    await twice(() => knownChats.refused(1))
    for (const one of [knownChats, await KnownChats.load(memoryOf(store))]) {
      expect(one.get(1)).toMatchObject({ latchedAtMs: 1000, refusedAtMs: 1000 })
    }
  })

  test('the person of a chat is recorded for private chats alone, and the first of several', async () => {
    const { knownChats, writes } = await watched()
    await knownChats.saw([
      { chatId: 3, kind: 'private' },
      { chatId: 2, kind: 'group' },
    ])
    const before = writes()
    await knownChats.saw([{ chatId: 2, userId: 11 }])
    await knownChats.saw([{ chatId: 9, userId: 11 }])
    expect(writes()).toBe(before)
    await knownChats.saw([11, 12].map((userId) => ({ chatId: 3, userId })))
    expect(knownChats.all.map(({ id, personId }) => [id, personId])).toEqual([
      [2, null],
      [3, 11],
    ])
    expect([2, 3, 9].map((chatId) => knownChats.personOf(chatId))).toEqual([null, 11, null])
  })
})

describe('the operator’s decisions', () => {
  test('`liftLatches` lifts latches and refusals until the next sighting, and records the time', async () => {
    const store = await open(temporary())
    const knownChats = await KnownChats.load(memoryOf(store))
    await knownChats.saw([1, 2, 3, 4].map((chatId) => ({ chatId, kind: 'group' })))
    await knownChats.saw([{ chatId: 1, isProtected: true }])
    await knownChats.refused(2)
    await knownChats.saw([{ chatId: 4, isProtected: true }])
    expect(await liftLatches(knownChats, [1, 2, 3, 9])).toEqual([1, 2])
    for (const one of [knownChats, await KnownChats.load(memoryOf(store))]) {
      expect([1, 2, 3, 4].map((chatId) => one.isLatched(chatId))).toEqual([
        false,
        false,
        false,
        true,
      ])
      expect(one.get(2)?.refusedAtMs).toBeNull()
      expect(one.get(9)).toBeUndefined()
    }
    await knownChats.refused(3)
    const lifted = await store.read((db) =>
      db.selectFrom('chats').select('id').where('lifted_at', 'is not', null).execute(),
    )
    expect(lifted.map(({ id }) => id).toSorted()).toEqual([1, 2])
    await knownChats.saw([{ chatId: 1, isProtected: true }])
    expect(knownChats.isLatched(1)).toBe(true)
  })

  test('`liftPrivateChats` makes private chats readable and lifts their latches, until they are protected again', async () => {
    const store = await open(temporary())
    const knownChats = await KnownChats.load(memoryOf(store))
    await put(store, 'another', 'flag')
    expect(knownChats.privateReadable).toBe(false)
    await knownChats.saw([{ chatId: 1, kind: 'private', isProtected: true }])
    await knownChats.saw([{ chatId: 2, kind: 'group', isProtected: true }])
    expect(await liftPrivateChats(knownChats)).toEqual([1])
    expect(await liftPrivateChats(knownChats)).toEqual([])
    for (const one of [knownChats, await KnownChats.load(memoryOf(store))]) {
      expect([one.privateReadable, one.isLatched(1), one.isLatched(2)]).toEqual([true, false, true])
    }
    await knownChats.saw([{ chatId: 1, isProtected: true }])
    await knownChats.setPrivateReadable({ readable: false })
    for (const one of [knownChats, await KnownChats.load(memoryOf(store))]) {
      expect([one.privateReadable, one.isLatched(1)]).toEqual([false, true])
    }
    expect(await flags(store)).toMatchObject({ another: 'flag' })
  })
})

test('known chats are listed in the order of their ids', async () => {
  const knownChats = await KnownChats.load(memoryOf(await open(temporary())))
  await knownChats.saw([3, -1, 2].map((chatId) => ({ chatId, kind: 'group' })))
  expect(knownChats.all.map(({ id }) => id)).toEqual([-1, 2, 3])
})

test('a chat that the operator corrected to a group has no person, also once it is private again', async () => {
  const knownChats = await KnownChats.load(memoryOf(await open(temporary())))
  await knownChats.saw([{ chatId: 1, kind: 'private', userId: 11, isProtected: true }])
  expect(await correctKind(knownChats, { chatId: 1, to: 'group' })).toBe('private')
  expect([knownChats.personOf(1), knownChats.isLatched(1)]).toEqual([null, true])
  await knownChats.saw([{ chatId: 1, kind: 'private', userId: 12 }])
  expect(knownChats.personOf(1)).toBe(12)
})
