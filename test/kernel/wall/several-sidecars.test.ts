/** Known chats and presses in a memory that other sidecars write too; a test plays these. */
import { createHash } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import {
  bindPerson,
  correctKind,
  liftLatches,
  liftPrivateChats,
} from '../../../src/kernel/wall/chat-decisions.ts'
import { KnownChats } from '../../../src/kernel/wall/known-chats.ts'
import { Presses } from '../../../src/kernel/wall/presses.ts'
import { chatOf, playedMemory } from './wall-scene.ts'

/** Known chats over a memory with these chats. */
async function scene(...chats: ReturnType<typeof chatOf>[]) {
  const played = playedMemory({ chats })
  const knownChats = await KnownChats.load(played.memory, { journal: played.journal })
  return { ...played, knownChats }
}

test('private chats are readable or protected as another sidecar wrote', async () => {
  const { knownChats, ...played } = await scene()
  await played.wrotePrivateReadable(7)
  expect(knownChats.privateReadable).toBe(true)
  await played.wrotePrivateReadable(null)
  expect(knownChats.privateReadable).toBe(false)
})

test('a chat that another sidecar latched is latched here, and reported for the caches', async () => {
  const { knownChats, ...played } = await scene(chatOf(1), chatOf(2))
  const reread = vi.fn()
  knownChats.onReread(reread)
  await played.wrote(chatOf(2, { latchedAtMs: 7 }))
  expect([knownChats.isLatched(1), knownChats.isLatched(2)]).toEqual([false, true])
  expect(reread.mock.calls).toEqual([[2]])
})

test('a chat that another sidecar loosened is latched again by the next sighting', async () => {
  const latched = chatOf(1, { latchedAtMs: 7 })
  const { knownChats, ...played } = await scene(latched)
  await knownChats.saw([{ chatId: 1, isProtected: true }], () =>
    played.wrote(chatOf(1, { latchedAtMs: null })),
  )
  expect([knownChats.isLatched(1), played.stored.get(1)?.latchedAtMs]).toEqual([true, 1000])
})

test('a sighting that any sidecar has written is not written again', async () => {
  const { knownChats, ...played } = await scene(chatOf(1, { latchedAtMs: 7 }))
  await knownChats.saw([{ chatId: 1, kind: 'group', isProtected: true }])
  expect([played.settle.mock.calls.length, knownChats.isUnwritten(1)]).toEqual([0, false])
  const settle = played.settle.getMockImplementation()
  // a write reads first what others have written
  played.settle.mockImplementation(() => played.wrote(chatOf(2)).then(settle))
  await knownChats.saw([{ chatId: 2, kind: 'group' }])
  expect([played.save.mock.calls.flat(), knownChats.isUnwritten(2)]).toEqual([[[], {}], false])
})

test('a person observed in a group does not become the person of a private chat later', async () => {
  const { knownChats, ...played } = await scene()
  const unread = () => Promise.reject(new Error('out of reach'))
  played.settle.mockImplementation(() => Promise.reject(new Error('full')))
  await expect(knownChats.saw([{ chatId: 1, kind: 'group', userId: 11 }], unread)).rejects.toThrow()
  await expect(knownChats.saw([{ chatId: 1, kind: 'private' }], unread)).rejects.toThrow()
  expect([knownChats.isPrivate(1), knownChats.personOf(1)]).toEqual([true, null])
})

test('an unwritten sighting is written before the next write of any record', async () => {
  const { knownChats, ...played } = await scene()
  played.save.mockRejectedValueOnce(new Error('full'))
  await expect(knownChats.saw([{ chatId: 1, isProtected: true }])).rejects.toThrow('full')
  expect([knownChats.isLatched(1), knownChats.isUnwritten(1)]).toEqual([true, true])
  await played.memory.write(() => Promise.resolve())
  expect([played.stored.get(1)?.latchedAtMs, knownChats.isUnwritten(1)]).toEqual([1000, false])
})

test('a sighting that arrives while an earlier one is written is written too', async () => {
  const { knownChats, ...played } = await scene()
  const [second, first] = [
    new Promise((resolve) => {
      played.save.mockImplementationOnce(async (chats) => {
        resolve(knownChats.saw([{ chatId: 1, isProtected: true }]))
        await new Promise(setImmediate)
        for (const chat of chats) played.stored.set(chat.id, chat)
      })
    }),
    knownChats.saw([{ chatId: 1, kind: 'channel' }]),
  ]
  await first
  expect(knownChats.isLatched(1)).toBe(true)
  await second
  for (const one of [knownChats, await KnownChats.load(played.memory)]) {
    expect([one.get(1)?.kind, one.isLatched(1)]).toEqual(['channel', true])
  }
})

test('no latch is lifted when the flag of readable private chats cannot be written', async () => {
  const { knownChats, ...played } = await scene(chatOf(1, { kind: 'private', latchedAtMs: 7 }))
  vi.spyOn(played.memory, 'write').mockRejectedValueOnce(new Error('full'))
  await expect(liftPrivateChats(knownChats)).rejects.toThrow('full')
  expect([knownChats.isLatched(1), played.save.mock.calls.length]).toEqual([true, 0])
})

test('a notice about chats is shared with the other sidecars of a database', async () => {
  const [shared, own] = [playedMemory(), playedMemory({ isShared: false })]
  for (const { memory } of [shared, own]) {
    const knownChats = await KnownChats.load(memory)
    await knownChats.sawNotices([])
    await knownChats.sawNotices([3, 4])
  }
  expect(shared.touched).toEqual([[3, 4]])
  expect(own.touched).toEqual([])
})

test('a quarter of a million chats are known, and one more is refused', async () => {
  const chats = Array.from({ length: 249_999 }, (_, id) => chatOf(id + 1))
  const knownChats = await KnownChats.load(playedMemory({ chats }).memory)
  await knownChats.saw([{ chatId: 250_000, kind: 'group' }])
  await expect(knownChats.saw([{ chatId: 250_001, kind: 'group' }])).rejects.toMatchObject({
    code: 'postern_store_unwritable',
    message: expect.stringContaining('250000') as unknown,
  })
})

test('the journal has each kind that became stricter, and none that was first or unchanged', async () => {
  const { knownChats, appended, announce } = await scene(chatOf(1), chatOf(2, { kind: 'unknown' }))
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

test('the journal has the person whom the operator bound, with the former one', async () => {
  const { knownChats, appended, announce, stored } = await scene(
    chatOf(1, { kind: 'private', personId: 11 }),
  )
  expect(await bindPerson(knownChats, { chatId: 1, userId: 12 })).toBe(true)
  expect(appended).toEqual([
    { kind: 'person-bound', chatId: 1, userId: 12, detail: { before: 11 } },
  ])
  expect([stored.get(1)?.personId, announce.mock.calls.length]).toEqual([12, 1])
})

test('the journal has a corrected kind, and no correction to the same kind', async () => {
  const { knownChats, appended, stored } = await scene(chatOf(1, { kind: 'private', personId: 11 }))
  expect(await correctKind(knownChats, { chatId: 1, to: 'channel' })).toBe('private')
  expect(await correctKind(knownChats, { chatId: 1, to: 'channel' })).toBe('channel')
  expect(await correctKind(knownChats, { chatId: 9, to: 'group' })).toBeNull()
  expect(appended).toEqual([
    { kind: 'kind-corrected', chatId: 1, detail: { from: 'private', to: 'channel' } },
  ])
  expect(stored.get(1)).toEqual(chatOf(1, { kind: 'channel' }))
  expect(stored.has(9)).toBe(false)
})

test('the journal has each lifted latch, and no lifted refusal', async () => {
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

test('the journal has private chats made readable, and not their protection again', async () => {
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

const press = (id: unknown, chatId: number | null) => ({
  update: { kind: 'callback_query', callbackQuery: { id } },
  chatId,
})

test('a press has the chats of all sidecars that observed it', async () => {
  const { memory } = playedMemory()
  const [one, other] = [new Presses(memory), new Presses(memory)]
  await one.saw([press('p-1', 7)])
  await other.saw([press('p-1', 8)])
  for (const presses of [one, other]) {
    expect((await presses.chatsOf('p-1')).toSorted()).toEqual([7, 8])
  }
})

test('a press that another sidecar observed without a chat has no chat', async () => {
  const { memory } = playedMemory()
  const [one, other] = [new Presses(memory), new Presses(memory)]
  await one.saw([press('p-1', 7)])
  await other.saw([press('p-1', null)])
  expect(await one.chatsOf('p-1')).toEqual([])
})

test('a press has at most 16 chats, and none from then on, at every sidecar', async () => {
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

test('presses are kept for ten minutes in memory and in the shared store', async () => {
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

test('a single sidecar keeps presses in its own memory, for ten minutes', async () => {
  const { memory, clock, presses: stored } = playedMemory({ isShared: false })
  const presses = new Presses(memory)
  stored.push({ id: createHash('sha256').update('p-1').digest('base64'), chatId: 9, seenAtMs: 0 })
  for (let times = 0; times < 40; times++) await presses.saw([press('p-1', 7)])
  clock.nowMs += 599_999
  expect(await presses.chatsOf('p-1')).toEqual([7])
  clock.nowMs += 2
  expect(await presses.chatsOf('p-1')).toEqual([])
})

test('the last ten thousand presses are kept', async () => {
  const presses = new Presses(playedMemory({ isShared: false }).memory)
  await presses.saw(Array.from({ length: 10_001 }, (_, id) => press(id, 7)))
  const kept = await Promise.all([0, 1, 10_000].map((id) => presses.chatsOf(String(id))))
  expect(kept).toEqual([[], [7], [7]])
})
