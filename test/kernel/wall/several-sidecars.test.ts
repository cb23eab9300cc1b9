/** Known chats and presses in a memory that other sidecars write too; a test plays these. */
import { createHash } from 'node:crypto'
import { describe, expect, test, vi } from 'vitest'
import {
  bindPerson,
  correctKind,
  liftLatches,
  liftPrivateChats,
} from '../../../src/kernel/wall/chat-decisions.ts'
import { KnownChats } from '../../../src/kernel/wall/known-chats.ts'
import { Presses } from '../../../src/kernel/wall/presses.ts'
import { chatOf, playedMemory } from './wall-scene.ts'

describe('a chat that another sidecar has changed', () => {
  test('counts as readable or protected by what another sidecar has written of private chats', async () => {
    const played = playedMemory()
    const knownChats = await KnownChats.load(played.memory)
    await played.wrotePrivateReadable(7)
    expect(knownChats.privateReadable).toBe(true)
    await played.wrotePrivateReadable(null)
    expect(knownChats.privateReadable).toBe(false)
  })

  test('is known as it was written, and cached answers about it are stale', async () => {
    const played = playedMemory({ chats: [chatOf(1), chatOf(2)] })
    const knownChats = await KnownChats.load(played.memory)
    const reread = vi.fn()
    knownChats.onReread(reread)
    await played.wrote(chatOf(2, { latchedAtMs: 7 }))
    expect([knownChats.isLatched(1), knownChats.isLatched(2)]).toEqual([false, true])
    expect(reread.mock.calls).toEqual([[2]])
  })

  test('that it loosened is tightened by the next sighting, although that was known here', async () => {
    const latched = chatOf(1, { latchedAtMs: 7 })
    const played = playedMemory({ chats: [latched] })
    const knownChats = await KnownChats.load(played.memory)
    await knownChats.saw([{ chatId: 1, isProtected: true }], () =>
      played.wrote(chatOf(1, { latchedAtMs: null })),
    )
    expect([knownChats.isLatched(1), played.stored.get(1)?.latchedAtMs]).toEqual([true, 1000])
  })

  test('is not written again where the sighting was known, by anybody', async () => {
    const played = playedMemory({ chats: [chatOf(1, { latchedAtMs: 7 })] })
    const knownChats = await KnownChats.load(played.memory)
    await knownChats.saw([{ chatId: 1, kind: 'group', isProtected: true }])
    await knownChats.saw([{ chatId: 2, kind: 'group' }], () => played.wrote(chatOf(2)))
    expect([played.save.mock.calls.length, knownChats.isUnwritten(1)]).toEqual([0, false])
    expect([played.settle.mock.calls.length, knownChats.isUnwritten(2)]).toEqual([0, false])
  })

  test('is held with what is seen of the others, of which one alone is new', async () => {
    const played = playedMemory({ chats: [chatOf(1)] })
    const knownChats = await KnownChats.load(played.memory)
    await knownChats.saw([
      { chatId: 1, kind: 'group' },
      { chatId: 2, kind: 'private', userId: 11 },
    ])
    expect(played.save.mock.calls).toEqual([[[chatOf(2, { kind: 'private', personId: 11 })]]])
  })

  test('a person who was seen of a group is not taken for the person of a private chat later', async () => {
    const played = playedMemory()
    const knownChats = await KnownChats.load(played.memory)
    const unread = () => Promise.reject(new Error('out of reach'))
    played.settle.mockImplementation(() => Promise.reject(new Error('full')))
    await expect(
      knownChats.saw([{ chatId: 1, kind: 'group', userId: 11 }], unread),
    ).rejects.toThrow()
    await expect(knownChats.saw([{ chatId: 1, kind: 'private' }], unread)).rejects.toThrow()
    expect([knownChats.isPrivate(1), knownChats.personOf(1)]).toEqual([true, null])
  })
})

describe('a sighting', () => {
  test('that could not be written is written before the next write, whatever that is of', async () => {
    const played = playedMemory()
    const knownChats = await KnownChats.load(played.memory)
    played.save.mockRejectedValueOnce(new Error('full'))
    await expect(knownChats.saw([{ chatId: 1, isProtected: true }])).rejects.toThrow('full')
    expect([knownChats.isLatched(1), knownChats.isUnwritten(1)]).toEqual([true, true])
    await played.memory.write(() => Promise.resolve())
    expect([played.stored.get(1)?.latchedAtMs, knownChats.isUnwritten(1)]).toEqual([1000, false])
  })

  test('that comes while an earlier one is written stays until it is written, too', async () => {
    const played = playedMemory()
    const knownChats = await KnownChats.load(played.memory)
    const [first, second] = [
      knownChats.saw([{ chatId: 1, kind: 'channel' }]),
      new Promise((resolve) => {
        played.save.mockImplementationOnce(async (chats) => {
          resolve(knownChats.saw([{ chatId: 1, isProtected: true }]))
          await new Promise(setImmediate)
          for (const chat of chats) played.stored.set(chat.id, chat)
        })
      }),
    ]
    await first
    expect(knownChats.isLatched(1)).toBe(true)
    await second
    for (const one of [knownChats, await KnownChats.load(played.memory)]) {
      expect([one.get(1)?.kind, one.isLatched(1)]).toEqual(['channel', true])
    }
  })

  test('of an unknown chat that shows nothing of it is not written', async () => {
    const played = playedMemory()
    const knownChats = await KnownChats.load(played.memory, { maxChats: 0 })
    await knownChats.saw([{ chatId: 1, userId: 11, isProtected: false }])
    expect([played.settle.mock.calls.length, knownChats.all]).toEqual([0, []])
  })
})

test('two refusals of a chat at once are one, of the first time', async () => {
  const played = playedMemory({ chats: [chatOf(1)] })
  const knownChats = await KnownChats.load(played.memory)
  const first = knownChats.refused(1)
  played.clock.nowMs = 2000
  await Promise.all([first, first.then(() => knownChats.refused(1))])
  const before = played.stored.get(1)?.refusedAtMs
  played.clock.nowMs = 3000
  await knownChats.refused(1)
  expect(played.stored.get(1)?.refusedAtMs).toBe(before)
  expect(played.save).toHaveBeenCalledTimes(1)
})

test('no latch is lifted where it cannot be written that private chats are readable', async () => {
  const played = playedMemory({ chats: [chatOf(1, { kind: 'private', latchedAtMs: 7 })] })
  const knownChats = await KnownChats.load(played.memory)
  vi.spyOn(played.memory, 'write').mockRejectedValueOnce(new Error('full'))
  await expect(liftPrivateChats(knownChats)).rejects.toThrow('full')
  expect([knownChats.isLatched(1), played.save.mock.calls.length]).toEqual([true, 0])
})

test('a notice about chats is given to the other sidecars, where there are any', async () => {
  const [shared, own] = [playedMemory(), playedMemory({ isShared: false })]
  for (const { memory } of [shared, own]) {
    const knownChats = await KnownChats.load(memory)
    await knownChats.sawNotices([])
    await knownChats.sawNotices([3, 4])
  }
  expect(shared.touched).toEqual([[3, 4]])
  expect(own.touched).toEqual([])
})

test('a quarter of a million chats are remembered, and one more is refused', async () => {
  const chats = Array.from({ length: 249_999 }, (_, id) => chatOf(id + 1))
  const knownChats = await KnownChats.load(playedMemory({ chats }).memory)
  await knownChats.saw([{ chatId: 250_000, kind: 'group' }])
  await expect(knownChats.saw([{ chatId: 250_001, kind: 'group' }])).rejects.toMatchObject({
    code: 'postern_store_unwritable',
    message: expect.stringContaining('250000') as unknown,
  })
})

describe('the journal has', () => {
  const scene = async (...chats: ReturnType<typeof chatOf>[]) => {
    const played = playedMemory({ chats })
    const knownChats = await KnownChats.load(played.memory, { journal: played.journal })
    return { ...played, knownChats }
  }

  test('each kind that became stricter, and no kind that was learned first or stayed', async () => {
    const { knownChats, appended, announce } = await scene(
      chatOf(1),
      chatOf(2, { kind: 'unknown' }),
    )
    await knownChats.saw([
      { chatId: 1, kind: 'private' },
      { chatId: 2, kind: 'private' },
      { chatId: 3, kind: 'group' },
    ])
    await knownChats.saw([{ chatId: 3, isProtected: true }])
    expect(appended).toEqual([
      { kind: 'kind-tightened', chatId: 1, detail: { from: 'group', to: 'private' } },
    ])
    expect(announce).toHaveBeenCalledTimes(2)
  })

  test('the person whom the operator named, with the one before', async () => {
    const { knownChats, appended, announce, stored } = await scene(
      chatOf(1, { kind: 'private', personId: 11 }),
    )
    expect(await bindPerson(knownChats, { chatId: 1, userId: 12 })).toBe(true)
    expect(appended).toEqual([
      { kind: 'person-bound', chatId: 1, userId: 12, detail: { before: 11 } },
    ])
    expect([stored.get(1)?.personId, announce.mock.calls.length]).toEqual([12, 1])
  })

  test('the kind that the operator corrected, and nothing of one that was so before', async () => {
    const { knownChats, appended, stored } = await scene(
      chatOf(1, { kind: 'private', personId: 11 }),
    )
    expect(await correctKind(knownChats, { chatId: 1, to: 'channel' })).toBe('private')
    expect(await correctKind(knownChats, { chatId: 1, to: 'channel' })).toBe('channel')
    expect(await correctKind(knownChats, { chatId: 9, to: 'group' })).toBeNull()
    expect(appended).toEqual([
      { kind: 'kind-corrected', chatId: 1, detail: { from: 'private', to: 'channel' } },
    ])
    expect(stored.get(1)).toEqual(chatOf(1, { kind: 'channel' }))
    expect(stored.has(9)).toBe(false)
  })

  test('each latch that was lifted, and no refusal', async () => {
    const { knownChats, appended, save } = await scene(
      chatOf(1, { latchedAtMs: 7 }),
      chatOf(2, { refusedAtMs: 7 }),
      chatOf(3),
    )
    expect(await liftLatches(knownChats, [1, 2, 3, 9])).toEqual([1, 2])
    expect(appended).toEqual([{ kind: 'latch-lifted', chatId: 1, detail: {} }])
    expect(save.mock.calls).toEqual([[[chatOf(1), chatOf(2)], { liftedAtMs: 1000 }]])
    expect(await liftLatches(knownChats, [])).toEqual([])
    expect(await liftLatches(knownChats, [9])).toEqual([])
    expect(save).toHaveBeenCalledTimes(1)
  })

  test('that private chats became readable, and not that they are protected again', async () => {
    const { knownChats, appended, announce, memory } = await scene(
      chatOf(1, { kind: 'private', latchedAtMs: 7 }),
    )
    expect(await liftPrivateChats(knownChats)).toEqual([1])
    expect(knownChats.privateReadable).toBe(true)
    expect((await KnownChats.load(memory)).privateReadable).toBe(true)
    await knownChats.setPrivateReadable({ readable: false })
    expect([knownChats.privateReadable, announce.mock.calls.length]).toEqual([false, 2])
    expect(appended).toEqual([
      { kind: 'private-readable', chatId: null, detail: {} },
      { kind: 'latch-lifted', chatId: 1, detail: {} },
    ])
  })
})

test('what is no decision of the operator’s lifts nothing', async () => {
  const played = playedMemory({ chats: [chatOf(1)] })
  const knownChats = await KnownChats.load(played.memory)
  await knownChats.refused(1)
  expect(played.save.mock.calls).toEqual([[[chatOf(1, { refusedAtMs: 1000 })], {}]])
})

describe('presses', () => {
  test('have a text or a number as their id, and nothing else', async () => {
    const presses = new Presses(playedMemory().memory)
    await presses.saw([press({}, 7), press(true, 7), press(null, 7)])
    const ids = ['[object Object]', 'true', 'null', 'undefined']
    expect(await Promise.all(ids.map((id) => presses.chatsOf(id)))).toEqual([[], [], [], []])
  })

  const press = (id: unknown, chatId: number | null) => ({
    update: { kind: 'callback_query', callbackQuery: { id } },
    chatId,
  })

  test('are of all chats in which any sidecar has seen them', async () => {
    const { memory } = playedMemory()
    const [one, other] = [new Presses(memory), new Presses(memory)]
    await one.saw([press('p-1', 7)])
    await other.saw([press('p-1', 8)])
    for (const presses of [one, other]) {
      expect((await presses.chatsOf('p-1')).toSorted()).toEqual([7, 8])
    }
  })

  test('that another sidecar saw without a chat are of none', async () => {
    const { memory } = playedMemory()
    const [one, other] = [new Presses(memory), new Presses(memory)]
    await one.saw([press('p-1', 7)])
    await other.saw([press('p-1', null)])
    expect(await one.chatsOf('p-1')).toEqual([])
  })

  test('are of 16 chats at most, and of none from then on, whoever has seen them', async () => {
    for (const isShared of [true, false]) {
      const { memory } = playedMemory({ isShared })
      const one = new Presses(memory)
      const other = isShared ? new Presses(memory) : one
      for (let chatId = 1; chatId <= 16; chatId++) {
        await (chatId % 2 === 0 ? one : other).saw([press('p-1', chatId)])
      }
      expect(await one.chatsOf('p-1')).toHaveLength(16)
      await other.saw([press('p-1', 17)])
      expect(await one.chatsOf('p-1')).toEqual([])
    }
  })

  test('are kept for ten minutes here, and as long in the shared store', async () => {
    const { memory, clock, presses: stored, forgottenBefore } = playedMemory()
    const presses = new Presses(memory)
    await presses.saw([press('p-1', 7)])
    expect(forgottenBefore).toEqual([1000 - 600_000])
    clock.nowMs = 600_999
    await presses.saw([press('p-2', 7)])
    expect(forgottenBefore).toHaveLength(1)
    expect(stored.map(({ seenAtMs }) => seenAtMs)).toEqual([1000, 600_999])
    clock.nowMs = 601_000
    await presses.saw([press('p-3', 7)])
    expect(forgottenBefore.slice(1)).toEqual([1000])
    await presses.saw([press('p-4', 7)])
    clock.nowMs += 600_000
    await presses.saw([{ update: { kind: 'message' }, chatId: 7 }])
    expect([forgottenBefore.length, stored.length]).toEqual([2, 4])
  })

  test('of one sidecar alone are in its own memory, for ten minutes', async () => {
    const { memory, clock, presses: stored } = playedMemory({ isShared: false })
    const presses = new Presses(memory)
    stored.push({ id: createHash('sha256').update('p-1').digest('base64'), chatId: 9, seenAtMs: 0 })
    for (let times = 0; times < 40; times++) await presses.saw([press('p-1', 7)])
    clock.nowMs += 599_999
    expect(await presses.chatsOf('p-1')).toEqual([7])
    clock.nowMs += 2
    expect(await presses.chatsOf('p-1')).toEqual([])
  })

  test('of ten thousand ids are kept, the last ones', async () => {
    const presses = new Presses(playedMemory({ isShared: false }).memory)
    await presses.saw(Array.from({ length: 10_001 }, (_, id) => press(id, 7)))
    const kept = await Promise.all([0, 1, 10_000].map((id) => presses.chatsOf(String(id))))
    expect(kept).toEqual([[], [7], [7]])
  })
})
