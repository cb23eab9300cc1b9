/** Names in requests that some parser of the service could read as another name. */
import { expect, test } from 'vitest'
import { call, expectRefused, openDoor } from './support.ts'

const send = (body: object) => ['POST', '/bot/v1/messages', { body }] as const

test.each([
  ['another case', { ChatId: -8 }],
  ['an underscore', { chat_id: -8 }],
  ['a hyphen', { 'chat-id': -8 }],
  ['a letter that folds to one', { ſilent: true }],
  ['our own name', { postern: {} }],
  [
    'another case, deep inside',
    { markup: { inlineKeyboard: [[{ text: 'a', CallbackData: 'b' }]] } },
  ],
])(
  'a request with a name in %s is refused, and the service receives nothing',
  async (_what, more) => {
    const door = await openDoor()
    const refused = send({ chatId: -7, text: 'hello', ...more })
    const error = await expectRefused(door, [...refused], [400, 'bad_request'])
    expect(error?.message).toContain('no such field')
    expect(door.seen).toEqual([])
  },
)

test.each([
  ['GET', '/commands?scope=default'],
  ['DELETE', '/commands?scope=groups'],
  ['DELETE', '/messages/7?chatId=-6'],
  ['GET', '/something/new?text=1'],
])('the request %s %s has only names of its call, and passes', async (method, path) => {
  const door = await openDoor()
  expect((await call(door, method, `/bot/v1${path}`)).status).toBe(200)
  expect(door.seen.at(-1)?.path).toBe(`/bot/v1${path}`)
})

test.each([
  ['GET', '/commands?text=hello'],
  ['GET', '/commands?Scope=default'],
  ['GET', '/commands?scope=default&scope=groups'],
  ['GET', '/chats/-5/members?limit=5'],
  ['GET', '/chats/-5/members?%63hat_id=-6'],
  ['POST', '/chats/-5/typing?text=hello'],
  ['DELETE', '/commands?chatId=1'],
])(
  'the request %s %s is refused for its query, and the service receives nothing',
  async (method, path) => {
    const door = await openDoor()
    const error = await expectRefused(door, [method, `/bot/v1${path}`], [400, 'bad_request'])
    expect(error?.message).toContain('no such parameter of the query')
    expect(door.seen).toEqual([])
  },
)
