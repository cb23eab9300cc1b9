import { Unseen } from '../../src/kernel/unseen.ts'
import { sightingsOf, unseen } from '../support/unseen.ts'
import { expect, test, vi } from 'vitest'
import type { KnownChats } from '../../src/kernel/wall/known-chats.ts'
import { Modes } from '../../src/lookups/modes.ts'

const OPEN = { id: 5, kind: 'group', memberCount: 2, mode: 'open', historyVisible: true }

/** Modes before a service that says this of any chat, and what was learned from it. */
function scene(says: object = OPEN, knownAs?: string) {
  const saw = vi.fn((_seen: object[]) => Promise.resolve())
  const knownChats = {
    saw,
    get: () => (knownAs === undefined ? undefined : { kind: knownAs }),
  }
  const chat = vi.fn((_chatId: number) => Promise.resolve<unknown>(says))
  const modes = new Modes({
    sightings: sightingsOf({ knownChats: knownChats as unknown as KnownChats }),
    chat: unseen(chat),
  })
  return { modes, chat, saw }
}

test('an answer is asked for once while it is fresh enough, and again when it is not', async () => {
  const { modes, chat } = scene()
  const before = performance.now()
  const answer = { kind: 'group', mode: 'open', historyVisible: true }
  expect(modes.peek(5, before)).toBeUndefined()
  expect(await modes.get(5, before)).toEqual(answer)
  expect(await modes.get(5, before)).toEqual(answer)
  expect(modes.peek(5, before)).toEqual(answer)
  expect(chat.mock.calls).toEqual([[5]])
  expect(modes.lookups).toEqual({ hits: 1, misses: 1 })
  expect(modes.peek(5, performance.now() + 1)).toBeUndefined()
  modes.forget(5)
  await modes.get(5, before)
  expect(chat).toHaveBeenCalledTimes(2)
})

test('an answer that somebody else asked for counts from when it was asked', async () => {
  const { modes, chat } = scene()
  const askedAtMs = performance.now()
  expect(await modes.observe(5, new Unseen(OPEN), askedAtMs)).toMatchObject({ mode: 'open' })
  expect(modes.peek(5, askedAtMs)).toMatchObject({ mode: 'open' })
  expect(modes.peek(5, askedAtMs + 1)).toBeUndefined()
  expect(chat).not.toHaveBeenCalled()
})

test('what an answer says is remembered before it is given', async () => {
  const { modes, saw } = scene({ ...OPEN, mode: 'protected' })
  await modes.get(5, 0)
  expect(saw.mock.calls).toEqual([[[{ chatId: 5, kind: 'group', isProtected: true }]]])
  saw.mockRejectedValue(new Error('full'))
  await expect(modes.observe(5, new Unseen(OPEN), 0)).rejects.toThrow('full')
  modes.forget(5)
  await expect(modes.get(5, 0)).rejects.toThrow('full')
  expect(modes.peek(5, 0)).toBeUndefined()
})

test('an answer about a private chat teaches nothing of its person, whom it may name', async () => {
  const person = { user: { id: 9 }, userId: 9, person: { id: 9 }, personId: 9, from: { id: 9 } }
  const { modes, saw } = scene({ id: 5, kind: 'private', mode: 'protected', ...person })
  await modes.get(5, 0)
  expect(saw.mock.calls).toEqual([[[{ chatId: 5, kind: 'private', isProtected: true }]]])
})

test('a chat is judged by the stricter kind that is known of it', async () => {
  expect((await scene({ ...OPEN, kind: 'channel' }, 'group').modes.get(5, 0)).kind).toBe('group')
  expect((await scene({ ...OPEN, kind: 'channel' }).modes.get(5, 0)).kind).toBe('channel')
})

test.each([undefined, false])('a history that is said to be %s is not visible', async (said) => {
  const { modes } = scene({ ...OPEN, historyVisible: said })
  expect((await modes.get(5, 0)).historyVisible).toBe(false)
})

test.each([null, {}, { ...OPEN, id: 6 }, { ...OPEN, mode: undefined }])(
  '%j is no answer about chat 5',
  async (says) => {
    const { modes, saw } = scene(says ?? {})
    await expect(modes.get(5, 0)).rejects.toMatchObject({
      code: 'postern_upstream_invalid',
      message: expect.stringContaining('a chat') as unknown,
    })
    expect(saw).not.toHaveBeenCalled()
  },
)
