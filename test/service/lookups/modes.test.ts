import { Unseen } from '../../../src/kernel/unseen.ts'
import { sightingsOf, unseen } from '../../support/unseen.ts'
import { expect, test, vi } from 'vitest'
import type { KnownChats } from '../../../src/kernel/wall/known-chats.ts'
import { Modes } from '../../../src/service/lookups/modes.ts'

const OPEN = { id: 5, kind: 'group', memberCount: 2, mode: 'open', historyVisible: true }

/** Modes before a service that says this of any chat, and what was learned from it. */
function scene(says: object = OPEN, knownAs?: string) {
  const saw = vi.fn((_seen: object[]) => Promise.resolve())
  const knownChats = { saw, get: () => (knownAs === undefined ? undefined : { kind: knownAs }) }
  const chat = vi.fn((_chatId: number) => Promise.resolve<unknown>(says))
  const modes = new Modes({
    sightings: sightingsOf({ knownChats: knownChats as unknown as KnownChats }),
    chat: unseen(chat),
  })
  return { modes, chat, saw }
}

test('a chat mode is fetched once while it is fresh, and again when it is old or was dropped', async () => {
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

test('a chat mode has the age of the call that fetched it', async () => {
  const { modes, chat } = scene()
  const askedAtMs = performance.now()
  expect(await modes.observe(5, new Unseen(OPEN), askedAtMs)).toMatchObject({ mode: 'open' })
  expect(modes.peek(5, askedAtMs)).toMatchObject({ mode: 'open' })
  expect(modes.peek(5, askedAtMs + 1)).toBeUndefined()
  expect(chat).not.toHaveBeenCalled()
})

test('a chat mode is recorded before it is returned, and not returned where recording fails', async () => {
  const { modes, saw } = scene({ ...OPEN, mode: 'protected' })
  await modes.get(5, 0)
  expect(saw.mock.calls).toEqual([[[{ chatId: 5, kind: 'group', isProtected: true }]]])
  saw.mockRejectedValue(new Error('full'))
  await expect(modes.observe(5, new Unseen(OPEN), 0)).rejects.toThrow('full')
  modes.forget(5)
  await expect(modes.get(5, 0)).rejects.toThrow('full')
  expect(modes.peek(5, 0)).toBeUndefined()
})

test('a private chat answer records the chat and no person', async () => {
  const person = { user: { id: 9 }, userId: 9, person: { id: 9 }, personId: 9, from: { id: 9 } }
  const { modes, saw } = scene({ id: 5, kind: 'private', mode: 'protected', ...person })
  await modes.get(5, 0)
  expect(saw.mock.calls).toEqual([[[{ chatId: 5, kind: 'private', isProtected: true }]]])
})

test('a chat is treated as the stricter of its known and its reported kind', async () => {
  expect((await scene({ ...OPEN, kind: 'channel' }, 'group').modes.get(5, 0)).kind).toBe('group')
  expect((await scene({ ...OPEN, kind: 'channel' }).modes.get(5, 0)).kind).toBe('channel')
})

test.each([undefined, false])('a history that is reported as %s is not visible', async (said) => {
  const { modes } = scene({ ...OPEN, historyVisible: said })
  expect((await modes.get(5, 0)).historyVisible).toBe(false)
})

test.each([null, {}, { ...OPEN, id: 6 }, { ...OPEN, mode: undefined }])(
  'a response %j is rejected as the answer for chat 5',
  async (says) => {
    const { modes, saw } = scene(says ?? {})
    await expect(modes.get(5, 0)).rejects.toMatchObject({
      code: 'postern_upstream_invalid',
      message: expect.stringContaining('a chat') as unknown,
    })
    expect(saw).not.toHaveBeenCalled()
  },
)
