import { expect, test } from 'vitest'
import { answering, endless, type Instead } from './front.ts'
import { useScene } from './scene.ts'

const scene = useScene()

const BYTES = 200 * 2 ** 20

/** The same with a Content-Length that says so beforehand. */
const announced: Instead = (response) => {
  response.setHeader('content-length', BYTES)
  endless(BYTES)(response)
}
/** A well-formed list that is too long by far. */
function longList(count: number): string {
  const updates = Array.from({ length: count }, (_, n) => `{"updateId":${n + 1},"kind":"none"}`)
  return `{"ok":true,"result":[${updates.join(',')}]}`
}

/** Answers one route so while the work lasts. */
async function during<T>(route: string, instead: Instead, work: () => Promise<T>): Promise<T> {
  scene.front.instead.set(route, instead)
  try {
    return await work()
  } finally {
    scene.front.instead.delete(route)
  }
}

test.each([
  ['200 MB without an end', endless(BYTES)],
  ['a Content-Length of 200 MB', announced],
  ['a million updates', answering(longList(1_000_000))],
])(
  'a poll answered by %s is `postern_upstream_invalid`, and the next poll succeeds',
  async (_name, giant) => {
    const alice = await scene.sandbox.phone(scene.sandbox.home.alice.id)
    const id = await alice.write(scene.sandbox.home.privateChat, 'waiting')
    const outcomes = await during('GET /updates', giant, async () => {
      return await Promise.all([1, 2, 3].map(() => scene.outcome('GET', '/updates')))
    })
    expect(outcomes).toEqual(Array.from({ length: 3 }, () => '502 postern_upstream_invalid'))
    expect(await scene.take()).toMatchObject([{ id, text: 'waiting' }])
  },
)

test('a call, key lookup or send answered by 200 MB is `postern_upstream_invalid`', async () => {
  const { privateChat } = scene.sandbox.home
  const invalid = '502 postern_upstream_invalid'
  const giant = endless(BYTES)
  const chat = `/chats/${privateChat}`
  expect(await during(`GET ${chat}`, giant, () => scene.outcome('GET', chat))).toBe(invalid)
  const { alice, bot } = scene.sandbox.home
  const fresh = { kind: 'group' as const, members: [alice.id, bot.id] }
  const { id: chatId } = await scene.sandbox.control.addRoom(fresh)
  const send = () => scene.outcome('POST', '/messages', { chatId, text: 'to alice' })
  expect(await during(`GET /chats/${chatId}`, giant, send)).toBe(invalid)
  expect(await during(`GET /chats/${chatId}/keys`, giant, send)).toBe(invalid)
  expect(await send()).toBe(201)
  const edit = () => scene.outcome('PATCH', '/messages/1', { chatId, text: 'to nobody' })
  expect(await during('PATCH /messages/1', giant, edit)).toBe(invalid)
})
