import { expect, test, vi } from 'vitest'
import { KnownChats } from '../../src/chats/known-chats.ts'
import { open, temporary } from '../store/support.ts'

/** Known chats, of which at most three are remembered. */
async function small() {
  const onFull = vi.fn()
  const store = await open(temporary())
  const load = async () => {
    const loaded = await KnownChats.load(store, { maxChats: 3 })
    loaded.onFull(onFull)
    return loaded
  }
  return { knownChats: await load(), load, onFull }
}

test('of more chats than are remembered none pushes another out, and a new one is refused', async () => {
  const { knownChats, load, onFull } = await small()
  await knownChats.sawKinds([{ chatId: 1, kind: 'private' }])
  await knownChats.sawPersons([{ chatId: 1, userId: 11 }])
  await knownChats.sawChat({ chatId: 2, kind: 'group', isProtected: true })
  for (let chatId = 100; chatId < 110; chatId++) {
    await knownChats.sawKinds([{ chatId, kind: 'channel' }]).catch(() => undefined)
  }
  expect(onFull).toHaveBeenCalledTimes(9)
  for (const one of [knownChats, await load()]) {
    expect(one.all.map(({ id }) => id)).toEqual([1, 2, 100])
    expect([one.personOf(1), one.isLatched(2)]).toEqual([11, true])
  }
})

test('what must be learned of a chat too many cannot be learned, so that nothing is decided without it', async () => {
  const { knownChats } = await small()
  await knownChats.sawKinds([1, 2, 3].map((chatId) => ({ chatId, kind: 'group' })))
  const code = 'postern_store_unwritable'
  await expect(knownChats.sawKinds([{ chatId: 4, kind: 'private' }])).rejects.toMatchObject({
    code,
  })
  await expect(knownChats.sawProtected(4)).rejects.toMatchObject({ code })
  const seen = { chatId: 4, kind: 'channel', isProtected: false }
  await expect(knownChats.sawChat(seen)).rejects.toMatchObject({ code })
})

test('beside a chat too many, what is seen of the known ones is learned all the same', async () => {
  const { knownChats } = await small()
  await knownChats.sawKinds([1, 2, 3].map((chatId) => ({ chatId, kind: 'group' })))
  const seen = [
    { chatId: 4, kind: 'private' },
    { chatId: 3, kind: 'private' },
  ]
  await expect(knownChats.sawKinds(seen)).rejects.toThrow()
  expect([knownChats.isPrivate(3), knownChats.get(4)]).toEqual([true, undefined])
  await knownChats.sawProtected(2)
  expect(knownChats.isLatched(2)).toBe(true)
})

test.each([
  [['channel', 'group', 'channel'], 'group'],
  [['group', 'channel'], 'group'],
  [['group', 'bazaar'], 'group'],
  [['channel', 'bazaar'], 'bazaar'],
  [['group', 'private', 'group'], 'private'],
  [['private', 'channel'], 'private'],
])(
  'a chat seen as %j is judged as %s, seen at once or one after the other',
  async (kinds, kind) => {
    const { knownChats } = await small()
    await knownChats.sawKinds(kinds.map((one) => ({ chatId: 1, kind: one })))
    for (const one of kinds) await knownChats.sawChat({ chatId: 2, kind: one, isProtected: false })
    expect([1, 2].map((chatId) => knownChats.get(chatId)?.kind)).toEqual([kind, kind])
  },
)

test('the person of a private chat is the first one, whoever is seen later or at the same time', async () => {
  const { knownChats, load } = await small()
  await knownChats.sawKinds([{ chatId: 1, kind: 'private' }])
  await Promise.all([11, 12].map((userId) => knownChats.sawPersons([{ chatId: 1, userId }])))
  await knownChats.sawPersons([{ chatId: 1, userId: 13 }])
  for (const one of [knownChats, await load()]) expect(one.personOf(1)).toBe(11)
})

test('the operator can say whose a private chat is, and of no other chat', async () => {
  const { knownChats, load } = await small()
  await knownChats.sawKinds([
    { chatId: 1, kind: 'private' },
    { chatId: 2, kind: 'group' },
  ])
  await knownChats.sawPersons([{ chatId: 1, userId: 11 }])
  expect(await Promise.all([1, 2, 3].map((chatId) => knownChats.setPerson(chatId, 12)))).toEqual([
    true,
    false,
    false,
  ])
  for (const one of [knownChats, await load()]) expect(one.personOf(1)).toBe(12)
})
