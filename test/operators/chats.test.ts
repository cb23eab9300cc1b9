/** The operator's commands about chats, each on what is remembered and on what is kept beside it. */
import { expect, test, vi } from 'vitest'
import { CHATS } from '../../src/operators/chats.ts'
import { KnownChats } from '../../src/kernel/wall/known-chats.ts'
import type { KnownChat } from '../../src/kernel/memory.ts'
import { chatOf, playedMemory } from '../kernel/wall/wall-scene.ts'
import { refused } from '../support/refused.ts'

async function scene(chats: KnownChat[], o: { published?: boolean } = {}) {
  const knownChats = await KnownChats.load(playedMemory({ chats }).memory)
  const modes = {
    forget: vi.fn(),
    peek: (chatId: number) => (chatId === 1 ? { mode: 'open' } : undefined),
  }
  const directory = { forget: vi.fn(), forgetAll: vi.fn() }
  const onPrivateReadable = vi.fn()
  const parts = {
    knownChats,
    modes,
    directory,
    onPrivateReadable,
    mustSeal: (chatId: number) => knownChats.isLatched(chatId),
    publication: { state: o.published === true ? 'published' : 'unpublished' },
    previewChat: (chatId: number) => Promise.resolve({ preview: chatId }),
  } as never
  return { knownChats, modes, directory, onPrivateReadable, parts }
}

const LATCHED = { latchedAtMs: 7 }
const REFUSED = { refusedAtMs: 8 }
const PRIVATE = { kind: 'private', personId: 11 }

test('`chatList` lists each chat with its mode, latch and person', async () => {
  const { parts } = await scene([
    chatOf(1, { ...LATCHED, personId: 9 }),
    chatOf(2, { ...PRIVATE, ...REFUSED }),
  ])
  expect(await CHATS.chatList.run(parts, {})).toEqual([
    {
      id: 1,
      kind: 'group',
      personId: null,
      mode: 'open',
      latched: true,
      sealed: true,
      refused: false,
    },
    {
      id: 2,
      kind: 'private',
      personId: 11,
      mode: null,
      latched: false,
      sealed: false,
      refused: true,
    },
  ])
})

const chats = [
  chatOf(1, LATCHED),
  chatOf(2, REFUSED),
  chatOf(3, { ...LATCHED, ...REFUSED }),
  chatOf(4, { ...PRIVATE, ...LATCHED }),
  chatOf(5),
]
const run = async (lift: object, o: { published?: boolean } = {}) => {
  const one = await scene(chats, o)
  const result = await CHATS.chatAllowReadable.run(one.parts, lift as never)
  const latched = [1, 2, 3, 4].map((id) => one.knownChats.isLatched(id))
  const forgotten = one.modes.forget.mock.calls.map(([id]) => id as number)
  return { ...one, result, latched, forgotten }
}
const again = 'the next sign of protection latches again'

test('`chatAllowReadable` lifts the latches of the named chats and forgets their cached modes', async () => {
  const { result, latched, forgotten, onPrivateReadable, knownChats } = await run({
    chatIds: [1, 2, 5],
  })
  expect(result).toEqual({ lifted: [1], message: `1 chat lifted; ${again}` })
  expect([latched, forgotten]).toEqual([
    [false, false, true, true],
    [1, 2],
  ])
  expect(onPrivateReadable).not.toHaveBeenCalled()
  expect(knownChats.privateReadable).toBe(false)
})

test('`chatAllowReadable` for pending chats lifts the latches of chats with refused text', async () => {
  const { result, latched, forgotten } = await run({ pending: true })
  expect(result).toEqual({ lifted: [3], message: `1 chat lifted; ${again}` })
  expect([latched, forgotten]).toEqual([
    [true, false, false, true],
    [2, 3],
  ])
  const { result: several } = await run({ chatIds: [1, 3] })
  expect(several.message).toBe(`2 chats lifted; ${again}`)
  expect((await run({ chatIds: [5] })).result).toEqual({ lifted: [], message: 'nothing to lift' })
})

test('`chatAllowReadable` for private chats reports that a published key keeps them encrypted', async () => {
  for (const published of [true, false]) {
    const { result, latched, knownChats, onPrivateReadable } = await run(
      { private: true },
      { published },
    )
    expect([result.lifted, latched]).toEqual([[4], [true, false, true, false]])
    expect(result.message).toContain(published ? 'stay encrypted' : 'may be readable again')
    expect([knownChats.privateReadable, onPrivateReadable.mock.calls.length]).toEqual([true, 1])
  }
})

test('`chatCorrectKind` sets the kind to group or channel and clears the caches of the chat', async () => {
  const { parts, knownChats, modes, directory } = await scene([chatOf(1, PRIVATE)])
  const correct = (chatId: number) => CHATS.chatCorrectKind.run(parts, { chatId, kind: 'group' })
  expect((await correct(1)).message).toContain('counts as a group, and not as private')
  expect([knownChats.get(1)?.kind, modes.forget.mock.calls, directory.forget.mock.calls]).toEqual([
    'group',
    [[1]],
    [[1]],
  ])
  expect((await correct(1)).message).toBe('chat 1 is a group already')
  await expect(correct(9)).rejects.toEqual(refused('refused', 'chat 9 is not known'))
  const { input } = CHATS.chatCorrectKind
  const kinds = ['group', 'channel', 'private', ''].map(
    (kind) => input.safeParse({ chatId: 1, kind }).success,
  )
  expect(kinds).toEqual([true, true, false, false])
})

test('`chatBind` binds a private chat to a person and refuses other chats', async () => {
  const { parts, knownChats, directory } = await scene([chatOf(1, PRIVATE), chatOf(2)])
  const bind = (chatId: number) => CHATS.chatBind.run(parts, { chatId, userId: 12 })
  expect((await bind(1)).message).toContain('the private chat of person 12')
  expect([knownChats.personOf(1), directory.forgetAll.mock.calls.length]).toEqual([12, 1])
  await expect(bind(2)).rejects.toEqual(refused('refused', 'chat 2 is not known as a private chat'))
  expect(directory.forgetAll).toHaveBeenCalledTimes(1)
})
