/** Which calls a client may make, by its rights, chats and room. */
import { expect, test } from 'vitest'
import type { Client } from '../../src/clients/records.ts'
import { lackOf, mayRead, NEEDS, paced } from '../../src/clients/may-client.ts'
import type { ClientAct, ClientCall } from '../../src/clients/may-client.ts'
import { clientOf } from '../support/client.ts'
import { chatOf } from '../kernel/wall/wall-scene.ts'

const RIGHTS = ['read', 'send', 'edit', 'delete', 'answer', 'typing'] as const
const CALLS = Object.keys(NEEDS) as ClientCall[]
const GROUP = -5
const PRIVATE = 7
const ALICE = 815
const NOWHERE = 99

const KNOWN = new Map([
  [GROUP, chatOf(GROUP, { kind: 'group' })],
  [PRIVATE, chatOf(PRIVATE, { kind: 'private', personId: ALICE })],
  [8, chatOf(8, { kind: 'private', personId: null })],
  [9, chatOf(9, { kind: 'channel', personId: ALICE })],
])
const facts = { nowMs: 1000, knownChats: { get: (id: number) => KNOWN.get(id) } }

const client = (over: Partial<Client> = {}): Client =>
  clientOf({ may: RIGHTS, chats: ['all'], buttons: true, ...over })
const lack = (over: Partial<Client>, act: ClientAct): string | undefined =>
  lackOf(client(over), act, facts)?.what
const to = (chatId: number, more: Partial<ClientAct> = {}): ClientAct => ({
  call: 'sendMessage',
  chatIds: [chatId],
  ...more,
})

test.each(CALLS)('the call %s needs its own right, and no other right allows it', (call) => {
  const need = NEEDS[call]
  const allowed = RIGHTS.filter((right) => {
    return lack({ may: [right] }, { call, chatIds: [GROUP] }) === undefined
  })
  if (need === 'anybody') expect(allowed).toEqual([...RIGHTS])
  else expect(allowed).toEqual(need === null ? [] : [need.right])
})

test('no right allows a call about webhook, commands, key, token or leaving, or one outside the specification', () => {
  const never = CALLS.filter((call) => NEEDS[call] === null)
  const own = 'getWebhook setWebhook deleteWebhook putKey getCommands putCommands deleteCommands'
  expect(never).toEqual([...own.split(' '), 'leaveChat', 'revokeToken'])
  expect(lack({}, { call: null, chatIds: [GROUP] })).toBe('own-token')
})

const CHATS: [chats: Client['chats'], persons: number[], yes: number[]][] = [
  [['all'], [], [GROUP, PRIVATE, 8, 9, NOWHERE]],
  [[GROUP], [], [GROUP]],
  [[NOWHERE], [], [NOWHERE]],
  [[GROUP, 9], [ALICE], [GROUP, PRIVATE, 9]],
  [[], [ALICE], [PRIVATE]],
  [[], [NOWHERE], []],
  [[], [], []],
]
test.each(CHATS)(
  'a client with the chats %j and the persons %j may send to %j',
  (chats, persons, yes) => {
    const asked = [GROUP, PRIVATE, 8, 9, NOWHERE]
    expect(asked.filter((id) => lack({ chats, persons }, to(id)) === undefined)).toEqual(yes)
  },
)

test('a client needs every chat of a press', () => {
  const press = { call: 'answerCallback' as const, chatIds: [GROUP, PRIVATE] }
  expect(lack({ chats: [GROUP] }, press)).toBe('chat')
  expect(lack({ chats: [GROUP, PRIVATE] }, press)).toBeUndefined()
})

test('a call without a chat is allowed only for a client with all chats', () => {
  for (const call of ['sendMessage', 'deleteMessage', 'answerCallback', 'getMedia'] as const) {
    expect(lack({ chats: [GROUP, PRIVATE] }, { call, chatIds: [] })).toBe('chat')
    expect(lack({}, { call, chatIds: [] })).toBeUndefined()
  }
})

test('a call about all chats is allowed only for a client with all chats', () => {
  const every = CALLS.filter((call) => {
    const need = NEEDS[call]
    return need !== null && need !== 'anybody' && need.chats === 'every'
  })
  expect(every).toEqual(['resolve', 'getUserKey'])
  for (const call of every) {
    expect(lack({ chats: [PRIVATE, GROUP] }, { call, chatIds: [GROUP] })).toBe('chat')
    expect(lack({}, { call, chatIds: [] })).toBeUndefined()
  }
})

const reads = (over: Partial<Client>, update: unknown): boolean =>
  mayRead(client({ may: ['read'], ...over }), update, facts)
const inChat = (id: unknown, more: object = {}) => ({ message: { chat: { id }, ...more } })
const OWN = { chats: [GROUP] }

test('a client reads an update with its chat, the right `read`, and before its expiry', () => {
  expect(reads(OWN, inChat(GROUP))).toBe(true)
  expect(reads(OWN, inChat(PRIVATE))).toBe(false)
  expect(reads({ ...OWN, may: ['send'] }, inChat(GROUP))).toBe(false)
  expect(reads({ ...OWN, expiresAtMs: 1000 }, inChat(GROUP))).toBe(false)
})

test.each([
  ['a quotation', inChat(GROUP, { replyTo: { chat: { id: PRIVATE } } })],
  ['a quotation of a quotation', inChat(GROUP, { replyTo: { replyTo: { chat: { id: 8 } } } })],
  ['a list', inChat(GROUP, { forwards: [{ chat: { id: GROUP } }, { chat: { id: PRIVATE } }] })],
  ['a press', { callback: { id: 'p', message: { chat: { id: PRIVATE } } }, ...inChat(GROUP) }],
  ['a chat within a chat', inChat(GROUP, { chat: { id: GROUP, chat: { id: PRIVATE } } })],
  ['an id that is a text', inChat(String(GROUP))],
  ['an id that is not exact', inChat(-(2 ** 60))],
  ['a chat that is a number', { message: { chat: GROUP } }],
  ['a chatId', inChat(GROUP, { replyTo: { chatId: PRIVATE, text: 'x' } })],
  ['a senderChat', inChat(GROUP, { senderChat: { id: PRIVATE } })],
  ['no chat', { callback: { id: 'p' } }],
  ['a chat that is too deep', nested(40, { chat: { id: GROUP } })],
])(
  'an update that may be of another chat (%s) is not delivered to a client of one chat',
  (_, update) => {
    expect(reads(OWN, update)).toBe(false)
    expect(reads({ chats: ['all'] }, update)).toBe(true)
  },
)

test('an update whose quotation names no chat is delivered to a client of its chat', () => {
  expect(reads(OWN, inChat(GROUP, { replyTo: { text: 'x', chat: null } }))).toBe(true)
  expect(reads(OWN, inChat(GROUP, { chatId: GROUP, isGroupChat: true }))).toBe(true)
  expect(reads(OWN, inChat(GROUP, { replyTo: null }))).toBe(true)
})

/** An object within so many others. */
function nested(depth: number, inner: object): object {
  return depth === 0 ? inner : { inner: nested(depth - 1, inner) }
}

test('a client’s text is limited by `maxChars`', () => {
  expect(lack({ maxChars: 5 }, to(GROUP, { textChars: 5 }))).toBeUndefined()
  expect(lack({ maxChars: 5 }, to(GROUP, { textChars: 6 }))).toBe('chars')
  expect(lack({}, to(GROUP, { textChars: 1e6 }))).toBeUndefined()
})

test('a client needs `buttons` for buttons, and `files` for files', () => {
  expect(lack({ buttons: false }, to(GROUP, { hasButtons: true }))).toBe('buttons')
  expect(lack({ buttons: false }, to(GROUP))).toBeUndefined()
  const file = { call: 'getMedia' as const, chatIds: [GROUP] }
  expect([lack({ files: false }, file), lack({}, file)]).toEqual(['files', undefined])
  expect(lack({ files: false }, { call: 'getChat', chatIds: [GROUP] })).toBeUndefined()
})

test('every call of a client is refused from its expiry on', () => {
  for (const call of [...CALLS, null]) {
    expect(lack({ expiresAtMs: 1000 }, { call, chatIds: [] })).toBe('expiry')
  }
  expect(lack({ expiresAtMs: 1001 }, { call: 'getMe', chatIds: [] })).toBeUndefined()
})

test.each(['getMedia', 'answerCallback'] as const)(
  'the refusal of %s is the same for a chat of others and for one that nobody knows',
  (call) => {
    const reader = client({ may: ['read', 'answer'], chats: [8] })
    const unknown = lackOf(reader, { call, chatIds: [] }, facts)
    expect(unknown).toMatchObject({ what: 'chat' })
    expect(lackOf(reader, to(GROUP, { call }), facts)).toEqual(unknown)
  },
)

test('a refusal names the missing right alone', () => {
  const missing = lackOf(client({ chats: [8] }), to(GROUP), facts)
  expect(missing?.detail).toBe('it lacks the chat -5')
})

const at = (nextAtMs: number, nowMs: number) => paced({ calls: 3, perMs: 999 }, { nextAtMs, nowMs })

test('a rate of three a second admits three calls at once, and one more each third of a second', () => {
  expect(at(0, 5000)).toEqual({ nextAtMs: 5333 })
  expect(at(5333, 5000)).toEqual({ nextAtMs: 5666 })
  expect(at(5666, 5000)).toEqual({ nextAtMs: 5999 })
  expect(at(5999, 5000)).toEqual({ waitMs: 333 })
  expect(at(5999, 5332)).toEqual({ waitMs: 1 })
  expect(at(5999, 5333)).toEqual({ nextAtMs: 6332 })
})

test('a rate begins anew after a clock was set back', () => {
  expect(at(9_000_000, 5000)).toEqual({ nextAtMs: 5333 })
})
