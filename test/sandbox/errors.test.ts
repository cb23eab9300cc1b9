import { describe, expect, test } from 'vitest'
import { ERROR_STATUS, type ErrorCode } from '../../src/api/error-codes.ts'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { A_KEY, ARMORED, ask, protect, still, type CallOptions } from './support.ts'

/** Brings one refusal about: prepares the world, and gives the call that is refused. */
type Trigger = (sandbox: Sandbox) => Call | Promise<Call>
type Call = [request: string, o?: CallOptions | undefined]

const SEND_ID = '5f0c2d0e-8d4f-4d0e-9f43-2f6d7d1a0b11'
const send = (chatId: number, body: object = { text: 'x' }): Call => [
  'POST /messages',
  { body: { chatId, ...body } },
]
const botId = (sandbox: Sandbox) => sandbox.home.bot.id

/** The bot's own message in a group, with a button. */
async function sent(sandbox: Sandbox, chatId: number): Promise<number> {
  const markup = { inlineKeyboard: [[{ text: 'b', callbackData: 'd' }]] }
  const response = await ask<{ id: number }>(sandbox, ...send(chatId, { text: 'x', markup }))
  return response.result.id
}

async function pressed(sandbox: Sandbox): Promise<string> {
  const { alice, readableGroup: chatId } = sandbox.home
  const messageId = await sent(sandbox, chatId)
  return (await sandbox.control.press({ userId: alice.id, chatId, messageId })).callbackId
}

async function alone(sandbox: Sandbox): Promise<number> {
  const { alice } = sandbox.home
  return (await sandbox.control.addRoom({ kind: 'group', members: [alice.id] })).id
}

async function repeated(sandbox: Sandbox, [request, o]: Call, times: number): Promise<Call> {
  for (let n = 0; n < times; n++) await ask(sandbox, request, o)
  return [request, o]
}

/** Every code of the errors table with each of its triggers. */
const TRIGGERS: Record<ErrorCode, Record<string, Trigger>> = {
  bad_request: {
    'a send without text': ({ home }) => send(home.privateChat, {}),
    'a wrong query': () => ['GET /updates?limit=0'],
    'an edit that changes nothing': async (sandbox) => {
      const chatId = sandbox.home.readableGroup
      return [`PATCH /messages/${await sent(sandbox, chatId)}`, { body: { chatId } }]
    },
    'a deletion without a chat': () => ['DELETE /messages/1'],
    'members of a private chat': ({ home }) => [`GET /chats/${home.privateChat}/members`],
    'one member of a private chat': ({ home }) => [
      `GET /chats/${home.privateChat}/members/${home.alice.id}`,
    ],
    'leaving a private chat': ({ home }) => [`POST /chats/${home.privateChat}/leave`],
    'what is no handle': () => ['GET /resolve/@alice'],
    'what is no scope': () => ['GET /commands?scope=everybody'],
  },
  wrong_body_kind: {
    'armored where it is readable': ({ home }) => send(home.readableGroup, { armored: ARMORED }),
    'text where it is encrypted': ({ home }) => send(home.encryptedGroup),
    'text to a person once the bot has a key': async (sandbox) => {
      await protect(sandbox)
      return send(sandbox.home.privateChat)
    },
    'an edit of the other kind': async (sandbox) => {
      const chatId = sandbox.home.readableGroup
      const id = await sent(sandbox, chatId)
      return [`PATCH /messages/${id}`, { body: { chatId, armored: ARMORED } }]
    },
  },
  bad_markup: {
    'a keyboard without buttons': ({ home }) =>
      send(home.privateChat, { text: 'x', markup: { inlineKeyboard: [[]] } }),
  },
  bad_webhook: {
    'a url that is not https': () => ['POST /webhook', { body: { url: 'http://example.org/' } }],
    'a private address': () => ['POST /webhook', { body: { url: 'https://10.0.0.1/' } }],
  },
  chat_is_open: {
    'keys of a readable group': ({ home }) => [`GET /chats/${home.readableGroup}/keys`],
    'keys of an open bot’s private chat': ({ home }) => [`GET /chats/${home.privateChat}/keys`],
  },
  unauthorized: {
    'no token': () => ['GET /me', { token: null }],
    'a revoked token': async (sandbox) => {
      await ask(sandbox, 'POST /token/revoke')
      return ['POST /token/revoke']
    },
    'a replaced token': async (sandbox) => {
      await sandbox.control.issueToken({ botId: botId(sandbox) })
      return ['GET /me']
    },
  },
  bot_paused: {
    'a paused bot': async (sandbox) => {
      await sandbox.control.pause({ botId: botId(sandbox) })
      return ['GET /updates']
    },
  },
  forbidden: {
    'a restricted bot writes': async (sandbox) => {
      const { readableGroup: chatId, bot } = sandbox.home
      await sandbox.control.setMembership({ chatId, userId: bot.id, status: 'restricted' })
      return send(chatId)
    },
    'a restricted bot types': async (sandbox) => {
      const { readableGroup: chatId, bot } = sandbox.home
      await sandbox.control.setMembership({ chatId, userId: bot.id, status: 'restricted' })
      return [`POST /chats/${chatId}/typing`]
    },
    'somebody else’s message edited': async (sandbox) => {
      const { alice, readableGroup: chatId } = sandbox.home
      const { messageId } = await sandbox.control.post({ userId: alice.id, chatId, text: 'x' })
      return [`PATCH /messages/${messageId}`, { body: { chatId, text: 'y' } }]
    },
    'somebody else’s message deleted': async (sandbox) => {
      const { alice, readableGroup: chatId } = sandbox.home
      const { messageId } = await sandbox.control.post({ userId: alice.id, chatId, text: 'x' })
      return [`DELETE /messages/${messageId}?chatId=${chatId}`]
    },
  },
  blocked_by_user: {
    'a send': async (sandbox) => {
      await sandbox.control.block({ userId: sandbox.home.alice.id, botId: botId(sandbox) })
      return send(sandbox.home.privateChat)
    },
    'an edit': async (sandbox) => {
      const chatId = sandbox.home.privateChat
      const id = await sent(sandbox, chatId)
      await sandbox.control.block({ userId: sandbox.home.alice.id, botId: botId(sandbox) })
      return [`PATCH /messages/${id}`, { body: { chatId, text: 'y' } }]
    },
  },
  user_gone: {
    'a send': async (sandbox) => {
      await sandbox.control.closeAccount({ userId: sandbox.home.alice.id })
      return send(sandbox.home.privateChat)
    },
  },
  not_found: { 'no such path': () => ['GET /nothing'], 'another method': () => ['PUT /me'] },
  chat_not_found: {
    'no such chat': () => ['GET /chats/1'],
    'a chat without the bot': async (sandbox) => [`GET /chats/${await alone(sandbox)}`],
    keys: () => ['GET /chats/1/keys'],
    members: () => ['GET /chats/1/members'],
    typing: () => ['POST /chats/1/typing'],
    leaving: () => ['POST /chats/1/leave'],
    'a scope of commands': () => ['PUT /commands', { body: { scope: 'chat:1', commands: [] } }],
    'a send': () => send(1),
  },
  message_not_found: {
    'an edit': ({ home }) => [
      'PATCH /messages/77',
      { body: { chatId: home.readableGroup, text: 'x' } },
    ],
    'a deletion': ({ home }) => [`DELETE /messages/77?chatId=${home.readableGroup}`],
  },
  member_not_found: {
    nobody: ({ home }) => [`GET /chats/${home.readableGroup}/members/1`],
    'somebody hidden': async ({ control, home }) => {
      await control.changeChat({ chatId: home.readableGroup, rosterHidden: true })
      return [`GET /chats/${home.readableGroup}/members/${home.bob.id}`]
    },
  },
  user_not_found: {
    nobody: () => ['GET /users/1/key'],
    'a stranger': async ({ control }) => {
      const { id } = await control.addPerson({ username: 'stranger' })
      await control.publishKey({ userId: id, ...A_KEY })
      return [`GET /users/${id}/key`]
    },
  },
  username_not_found: { 'a handle of nobody': () => ['GET /resolve/nobody_has_it'] },
  no_user_key: {
    'a person': ({ home }) => [`GET /users/${home.alice.id}/key`],
    'a private chat’s keys': async (sandbox) => {
      await protect(sandbox)
      return [`GET /chats/${sandbox.home.privateChat}/keys`]
    },
  },
  callback_not_found: { 'no such press': () => ['POST /callbacks/none/answer'] },
  media_not_found: { 'no such file': () => ['GET /../../media/none', { token: null }] },
  conflict: {
    'a sendId of another chat': async (sandbox) => {
      const { privateChat, readableGroup } = sandbox.home
      await ask(sandbox, ...send(privateChat, { text: 'x', sendId: SEND_ID }))
      return send(readableGroup, { text: 'x', sendId: SEND_ID })
    },
  },
  webhook_active: {
    polling: async (sandbox) => {
      await ask(sandbox, 'POST /webhook', { body: { url: 'https://93.184.215.14/' } })
      return ['GET /updates']
    },
  },
  callback_answered: {
    'a second answer': async (sandbox) =>
      await repeated(sandbox, [`POST /callbacks/${await pressed(sandbox)}/answer`], 1),
  },
  callback_expired: {
    'too late': async (sandbox) => {
      const id = await pressed(sandbox)
      await sandbox.advance(3 * 86_400_000)
      return [`POST /callbacks/${id}/answer`]
    },
  },
  too_large: { 'a large body': () => ['POST /messages', { body: 'x'.repeat(262_145) }] },
  rate_limited: {
    'too many calls': async (sandbox) => await repeated(sandbox, ['GET /me'], 600),
  },
  flood_wait: {
    'two sends to a person': async (sandbox) =>
      await repeated(sandbox, send(sandbox.home.privateChat), 1),
    'lookups of nobody': async (sandbox) =>
      await repeated(sandbox, ['GET /resolve/nobody_has_it'], 12),
  },
  slow_mode: {
    'a group in slow mode': async (sandbox) => {
      const chatId = sandbox.home.readableGroup
      await sandbox.control.changeChat({ chatId, slowModeSeconds: 9 })
      return await repeated(sandbox, send(chatId), 1)
    },
  },
  internal: {
    'a failure': (sandbox) => {
      sandbox.fault('error', { status: 500, code: 'internal', times: 1 })
      return ['GET /me']
    },
  },
}

/** Names in the error object beside status, code and message. */
const EXTRA: Record<string, string[]> = {
  'bad_request: a send without text': ['expected'],
  'bad_request: an edit that changes nothing': ['expected'],
  wrong_body_kind: ['expected'],
  rate_limited: ['retryAfter'],
  flood_wait: ['retryAfter'],
  slow_mode: ['retryAfter'],
}

describe.each(Object.entries(TRIGGERS))('%s', (code, triggers) => {
  test.each(Object.entries(triggers))('%s', async (name, trigger) => {
    await using sandbox = await still()
    const [request, o] = await trigger(sandbox)
    const { status, error, headers } = await ask(sandbox, request, o)
    expect([error.code, error.status, status]).toEqual([
      code,
      ERROR_STATUS[code as ErrorCode],
      ERROR_STATUS[code as ErrorCode],
    ])
    expect(error.message).not.toBe('')
    const extra = EXTRA[`${code}: ${name}`] ?? EXTRA[code] ?? []
    expect(Object.keys(error).sort()).toEqual(['code', 'message', 'status', ...extra].sort())
    expect(headers.get('retry-after') !== null).toBe(status === 429)
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  })
})
