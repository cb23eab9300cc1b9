/** Calls of clients at the bot's door: whose token it is, which chat a call is about, what is refused. */
import type { FastifyReply } from 'fastify'
import { expect, test } from 'vitest'
import { tokenHashOf } from '../../src/api/bot.ts'
import { ENDPOINTS } from '../../src/api/endpoints.ts'
import type { DoorClients } from '../../src/http/client-calls.ts'
import { relay } from '../../src/http/relay.ts'
import type { BotDoorParts } from '../../src/http/server.ts'
import { Refusal } from '../../src/errors.ts'
import { NEEDS, OWN_CALL, type ClientAct, type ClientCall } from '../../src/clients/may-client.ts'
import type { Client } from '../../src/clients/records.ts'
import { lackOf } from '../../src/clients/may-client.ts'
import { chatOf } from '../kernel/wall/wall-scene.ts'
import { clientOf } from '../support/client.ts'
import { call, expectRefused, NO_CLIENTS, openDoor, raw, TOKEN } from './support.ts'

const CLIENT_TOKEN = `pstn_${'r'.repeat(43)}`
const GROUP = -5
const OTHER = -6
const PRESS = 'press-in-group'

/** A door with one client, judged by the kernel; routes that another folder has answer by themselves. */
async function doorOf(over: Partial<Client>, parts: Partial<BotDoorParts> = {}) {
  const client = clientOf({ credential: tokenHashOf(CLIENT_TOKEN), ...over })
  /** The client is removed once a call of it was admitted. */
  const state = { isBrief: false }
  const require = () => {
    if (state.isBrief) throw new Refusal('unauthorized')
  }
  const stillMay = { ...OWN_CALL, require, ask: async () => require() }
  const facts = { nowMs: 0, knownChats: { get: (id: number) => chatOf(id) } }
  const acts: ClientAct[] = []
  const clients: DoorClients = {
    of: {
      find: (hash) => (hash === client.credential ? client : null),
      admit: async (caller, act) => {
        if (caller === null) return OWN_CALL
        acts.push(act)
        const lack = lackOf(client, act, facts)
        if (lack === null) return stillMay
        throw new Refusal('postern_not_allowed', `client reporter: ${lack.detail}`)
      },
      seesPeople: () => true,
    },
    presses: { chatsOf: async (id) => (id === PRESS ? [GROUP] : []) },
    shares: NO_CLIENTS.shares,
    only: false,
  }
  const ok = () => ({ ok: true, result: {} })
  const route: BotDoorParts['routes'][number] = (app) => {
    for (const path of ['/me', '/updates', '/webhook', '/chats/:chatId', '/chats/:chatId/keys']) {
      app.get(path, ok)
    }
    app.post('/messages', ok)
    app.patch('/messages/:messageId', ok)
    app.post('/webhook', ok)
    app.delete('/webhook', ok)
  }
  const world = await openDoor({ parts: { clients, routes: [route], ...parts } })
  return { ...world, acts, state }
}

/** A route that answers by `relay`, as every route does. */
const meRouteOf: BotDoorParts['routes'][number] = (app) => {
  const answer = { status: 200, headers: {}, body: Buffer.from('{}') }
  const give = (_request: unknown, reply: FastifyReply) => relay(reply, answer)
  for (const path of ['/me', '/updates', '/chats/:chatId', '/chats/:chatId/keys'])
    app.get(path, give)
  app.post('/messages', give)
  app.patch('/messages/:messageId', give)
}

/** A request for each call of the specification, about a group. */
function requestOf(name: ClientCall, chatId = GROUP) {
  const { method, path = '' } = ENDPOINTS.find((one) => one.name === name) ?? {}
  const url = path
    .replace(':chatId', String(chatId))
    .replace(':callbackId', chatId === GROUP ? PRESS : 'press-elsewhere')
    .replace(':username', 'alice')
    .replace(/:\w+/g, '7')
  const need = NEEDS[name]
  const isNamed = need !== null && need !== 'anybody' && need.chats === 'body'
  const body = isNamed ? { chatId } : name === 'putCommands' ? { commands: [] } : {}
  const more = method === 'GET' || (name.startsWith('delete') && !isNamed) ? {} : { body }
  return [String(method), `/bot/v1${url}`, { token: CLIENT_TOKEN, ...more }] as const
}

const CALLS = ENDPOINTS.map(({ name }) => name)
const NEVER = ['getUpdates', 'putKey']

test.each(CALLS)(
  'a client with only the right for %s may make that call, and a client with all other rights may not',
  async (name) => {
    const need = NEEDS[name]
    if (need === null || need === 'anybody') return
    const right = await doorOf({ may: [need.right], chats: ['all'] })
    expect((await call(right, ...requestOf(name))).status).toBe(200)
    const others = (['read', 'send', 'edit', 'delete'] as const).filter((one) => one !== need.right)
    const without = await doorOf({ may: others, chats: ['all'] })
    const error = await expectRefused(without, [...requestOf(name)], [403, 'postern_not_allowed'])
    expect(error?.message).toContain(`client reporter: it lacks the right ${need.right}`)
  },
)

test.each(
  CALLS.filter((name) => !NEVER.includes(name) && name !== 'getMe' && name !== 'revokeToken'),
)('a client of one chat may not call %s about another chat or about all', async (name) => {
  const need = NEEDS[name]
  if (need === null || need === 'anybody') return
  const door = await doorOf({ may: [need.right] })
  if (need.chats !== 'every') {
    expect((await call(door, ...requestOf(name))).status).toBe(200)
  }
  await expectRefused(door, [...requestOf(name, OTHER)], [403, 'postern_not_allowed'])
})

test.each(CALLS.filter((name) => NEEDS[name] !== null))(
  'a client that is removed while its call %s is under way receives 401, and nothing that it writes leaves',
  async (name) => {
    const may = ['read', 'send', 'edit', 'delete', 'answer', 'typing'] as const
    const door = await doorOf({ may, chats: ['all'] }, { routes: [meRouteOf] })
    door.state.isBrief = true
    const [method, ...request] = requestOf(name)
    const { status, json } = await call(door, method, ...request)
    expect([status, json.error?.code]).toEqual([401, 'unauthorized'])
    if (method !== 'GET') expect(door.seen).toEqual([])
  },
)

test('a client with all rights may not publish a key or call a path outside the specification', async () => {
  const may = ['read', 'send', 'edit', 'delete', 'answer', 'typing'] as const
  const door = await doorOf({ may, chats: ['all'] }, { allowUnknown: true })
  const calls = [
    ['PUT', '/bot/v1/key', { body: {} }],
    ['GET', '/bot/v1/chats'],
    ['GET', '/bot/v1/chats/-5/members/7/more'],
    ['POST', '/bot/v1/other', { body: {} }],
    ['OPTIONS', '/bot/v1/chats/-5'],
  ] as const
  for (const [method, path, more = {}] of calls) {
    const refused = [method, path, { ...more, token: CLIENT_TOKEN }] as const
    await expectRefused(door, [...refused], [403, 'postern_not_allowed'])
  }
  const head = await call(door, 'HEAD', '/bot/v1/chats/-5', { token: CLIENT_TOKEN })
  expect(head.status).toBe(403)
})

test('a client without any right may call `GET /me`', async () => {
  const door = await doorOf({ may: [], chats: [] })
  expect((await call(door, ...requestOf('getMe'))).status).toBe(200)
})

const tries: [what: string, method: string, path: string, body?: object][] = [
  ['is named twice, in path and body', 'POST', '/chats/-5/typing', { chatId: OTHER }],
  ['is named by the query too', 'DELETE', '/messages/7?chatId=-6', { chatId: GROUP }],
  ['has no name', 'DELETE', '/messages/7'],
  ['is no number', 'DELETE', '/messages/7', { chatId: '-5' }],
  ['is a number that no JavaScript has', 'GET', '/chats/9007199254740993'],
  ['is that of an unknown press', 'POST', '/callbacks/other/answer', {}],
]
test.each(tries)(
  'a client’s call is refused where its chat %s',
  async (_what, method, path, body) => {
    const may = ['read', 'delete', 'typing', 'answer'] as const
    const door = await doorOf({ may, chats: [GROUP, OTHER] })
    const more = { token: CLIENT_TOKEN, ...(body && { body }) }
    await expectRefused(door, [method, `/bot/v1${path}`, more], [403, 'postern_not_allowed'])
  },
)

const sending = async (over: Partial<Client>, body: object) => {
  const door = await doorOf(over)
  const sent = await call(door, 'POST', '/bot/v1/messages', {
    token: CLIENT_TOKEN,
    body: { chatId: GROUP, ...body },
  })
  return sent.json.error?.message ?? sent.json.ok
}

test('a client’s text is limited in UTF-16 units, and a client with a limit may not send sealed bodies', async () => {
  expect(await sending({ maxChars: 2 }, { text: '🙂' })).toBe(true)
  expect(await sending({ maxChars: 2 }, { text: '🙂!' })).toContain('at most 2 UTF-16 units')
  expect(await sending({ maxChars: 9999 }, { armored: 'x' })).toContain('UTF-16 units')
  expect(await sending({}, { armored: 'x' })).toBe(true)
})

test('a client without the right to buttons may neither send nor remove them', async () => {
  for (const markup of [{ inlineKeyboard: [] }, null]) {
    expect(await sending({}, { text: 'x', markup })).toContain('no buttons')
    expect(await sending({ buttons: true }, { text: 'x', markup })).toBe(true)
  }
})

test('an unknown or doubled client token is refused', async () => {
  const door = await doorOf({})
  const send = { body: { chatId: GROUP } }
  for (const token of [`${CLIENT_TOKEN}x`, 'pstn_', CLIENT_TOKEN.toUpperCase(), 'none']) {
    const more = { ...send, token }
    await expectRefused(door, ['POST', '/bot/v1/messages', more], [401, 'unauthorized'])
  }
  const line = `Authorization: Bearer ${CLIENT_TOKEN}\r\n`
  const twice = await raw(
    door.port,
    `GET /bot/v1/me HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n${line}${line}\r\n`,
  )
  expect(twice).toMatch(/^HTTP\/1.1 400 /)
  expect(door.acts).toEqual([])
})

test('the bot’s own token needs no right, and is refused under `clients.only`', async () => {
  const door = await doorOf({ may: [] })
  expect((await call(door, 'GET', '/bot/v1/updates', { token: TOKEN })).status).toBe(200)
  expect(door.acts).toEqual([])
  const only = await openDoor({ parts: { clients: { ...NO_CLIENTS, only: true } } })
  const error = await expectRefused(
    only,
    ['GET', '/bot/v1/me', { token: TOKEN }],
    [403, 'postern_not_allowed'],
  )
  expect(error?.message).toContain('clients.only')
})

test('the log names the client of a call, and never its token', async () => {
  const door = await doorOf({})
  await call(door, 'POST', '/bot/v1/messages', { token: CLIENT_TOKEN, body: { chatId: OTHER } })
  await call(door, 'GET', '/bot/v1/me')
  await expect.poll(() => door.lines.length).toBe(2)
  expect(door.lines[0]).toMatchObject({ client: 'reporter', code: 'postern_not_allowed' })
  expect(door.lines[1]).not.toHaveProperty('client')
  expect(JSON.stringify(door.lines)).not.toContain(CLIENT_TOKEN)
})
