import { describe, expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { ARMORED, ask, BUTTON, homeScene, outcome, sent, still } from './support.ts'

const NO_BODY_KIND = { text: 'x'.repeat(5000) }

describe('the order of refusals', () => {
  test('a missing token is refused before a pause, a pause before path and body, the path before the body', async () => {
    await using sandbox = await still()
    const invalid = { body: '{', headers: { 'content-type': 'text/plain' } }
    expect(await outcome(sandbox, 'POST /nothing', invalid)).toBe('not_found')
    expect(await outcome(sandbox, 'POST /me', { body: '{' })).toBe('not_found')
    await sandbox.control.pause({ botId: sandbox.home.bot.id })
    for (const request of ['GET /nothing', 'GET /updates?limit=0', 'POST /messages', 'PUT /me']) {
      const body = request.startsWith('GET') ? {} : { body: '{' }
      expect(await outcome(sandbox, request, body)).toBe('bot_paused')
      expect(await outcome(sandbox, request, { token: null, ...body })).toBe('unauthorized')
    }
    const large = { token: null, body: 'x'.repeat(300_000) }
    expect(await outcome(sandbox, 'POST /messages', large)).toBe('unauthorized')
  })

  test('a send is refused for its fields before its chat, and for its chat before its kind of body', async () => {
    await using sandbox = await still()
    const send = (body: object) => outcome(sandbox, 'POST /messages', { body })
    expect(await send({ chatId: 1, text: 7 })).toBe('bad_request')
    expect(await send({ chatId: 1, armored: ARMORED })).toBe('chat_not_found')
    expect(await send({ chatId: 1, ...NO_BODY_KIND })).toBe('chat_not_found')
  })

  test('a send is refused as conflict before membership, and for membership before kind and markup', async () => {
    const { sandbox, readableGroup: chatId, privateChat, bot, alice } = await homeScene()
    const sendId = '5F0C2D0E-8D4F-4D0E-9F43-2F6D7D1A0B11'
    const send = (body: object) => outcome(sandbox, 'POST /messages', { body })
    expect(await send({ chatId, text: 'x', sendId })).toBe(201)
    await sandbox.control.setMembership({ chatId, userId: bot.id, status: 'restricted' })
    await sandbox.control.block({ userId: alice.id, botId: bot.id })
    expect(await send({ chatId, text: 'y', sendId: sendId.toLowerCase() })).toBe(200)
    expect(await send({ chatId: privateChat, armored: 'x', sendId })).toBe('conflict')
    expect(await send({ chatId, armored: ARMORED, markup: 7 })).toBe('forbidden')
    expect(await send({ chatId: privateChat, armored: ARMORED })).toBe('blocked_by_user')
    await sandbox.control.closeAccount({ userId: alice.id })
    expect(await send({ chatId: privateChat, armored: ARMORED })).toBe('user_gone')
  })

  test('a send is refused for its kind, then its text, then its keyboard, then the rate window', async () => {
    const { sandbox, privateChat: chatId } = await homeScene()
    const send = (body: object) => outcome(sandbox, 'POST /messages', { body: { chatId, ...body } })
    expect(await send({ text: 'x' })).toBe(201)
    expect(await send({ ...NO_BODY_KIND, armored: 'x' })).toBe('wrong_body_kind')
    expect(await send({ ...NO_BODY_KIND, markup: 7 })).toBe('bad_request')
    expect(await send({ text: 'x', markup: 7 })).toBe('bad_markup')
    expect(await send({ text: 'x' })).toBe('flood_wait')
  })

  test('a send is refused by slow mode before a full rate window', async () => {
    const { sandbox, readableGroup: chatId } = await homeScene()
    const send = () => outcome(sandbox, 'POST /messages', { body: { chatId, text: 'x' } })
    for (let n = 0; n < 20; n++) await send()
    expect(await send()).toBe('flood_wait')
    await sandbox.control.changeChat({ chatId, slowModeSeconds: 30 })
    expect(await send()).toBe('slow_mode')
  })

  test('an edit is refused for chat, message, author, block, kind and window, in this order', async () => {
    const { sandbox, privateChat: chatId, alice, bot } = await homeScene()
    const own = await sent(sandbox, chatId)
    const { messageId } = await sandbox.control.post({ userId: alice.id, chatId, text: 'x' })
    await sandbox.control.block({ userId: alice.id, botId: bot.id })
    const edit = (id: number, body: object) =>
      outcome(sandbox, `PATCH /messages/${id}`, { body: { chatId, ...body } })
    expect(await edit(77, { armored: 'x', chatId: 1 })).toBe('chat_not_found')
    expect(await edit(77, { armored: 'x' })).toBe('message_not_found')
    expect(await edit(messageId, { armored: 'x' })).toBe('forbidden')
    expect(await edit(own, { armored: 'x' })).toBe('blocked_by_user')
    await sandbox.control.unblock({ userId: alice.id, botId: bot.id })
    expect(await edit(own, { armored: 'x', markup: 7 })).toBe('wrong_body_kind')
    expect(await edit(own, { text: 'y' })).toBe(200)
    expect(await edit(own, { text: 'z' })).toBe('flood_wait')
  })

  test('an answer to a press is refused for its fields, an unknown press, a second answer, then its age', async () => {
    const { sandbox, readableGroup: chatId, alice } = await homeScene()
    const messageId = await sent(sandbox, chatId, { text: 'x', markup: BUTTON })
    const { callbackId } = await sandbox.control.press({ userId: alice.id, chatId, messageId })
    const answer = (id: string, body?: unknown) =>
      outcome(sandbox, `POST /callbacks/${id}/answer`, body === undefined ? {} : { body })
    expect(await answer('none', { alert: 1 })).toBe('bad_request')
    expect(await answer('none', 'null')).toBe('bad_request')
    expect(await answer('none')).toBe('callback_not_found')
    expect(await answer(callbackId)).toBe(200)
    await sandbox.advance(100_000)
    expect(await answer(callbackId)).toBe('callback_answered')
  })

  test('a poll is refused for its query before an active webhook', async () => {
    await using sandbox = await still()
    await ask(sandbox, 'POST /webhook', { body: { url: 'https://93.184.215.14/' } })
    expect(await outcome(sandbox, 'GET /updates?limit=0')).toBe('bad_request')
    expect(await outcome(sandbox, 'GET /updates')).toBe('webhook_active')
  })
})

describe('calls without an effect', () => {
  /** Calls of the bot until one is refused. */
  async function callsLeft(sandbox: Sandbox): Promise<number> {
    for (let n = 0; ; n++) if ((await outcome(sandbox, 'GET /me')) !== 200) return n
  }

  test('a call refused by the bot’s call window is not counted in the window of the address', async () => {
    await using sandbox = await still()
    const { token } = await sandbox.control.addBot({ username: 'other_bot' })
    expect(await callsLeft(sandbox)).toBe(600)
    for (let n = 0; n < 10; n++) await ask(sandbox, 'GET /me')
    for (let n = 0; n < 600; n++) expect(await outcome(sandbox, 'GET /me', { token })).toBe(200)
    expect(await outcome(sandbox, 'GET /me', { token: null })).toBe('rate_limited')
  })

  test('`GET /updates` ignores unknown query names, and refuses a repeated or inexact number', async () => {
    await using sandbox = await still()
    const query = 'offset=9007199254740991&limit=1&what=ever&limits=x'
    expect(await outcome(sandbox, `GET /updates?${query}`)).toBe(200)
    expect(await outcome(sandbox, 'GET /updates?offset=9007199254740993')).toBe('bad_request')
    expect(await outcome(sandbox, 'GET /updates?limit=1&limit=2')).toBe('bad_request')
  })
})
