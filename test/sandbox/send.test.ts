import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { ARMORED, ask, outcome, protect, still } from './support.ts'

const open = () => still({ rates: 'off' })
const send = (sandbox: Sandbox, body: object, chatId = sandbox.home.privateChat) =>
  ask<{ id: number; date: number }>(sandbox, 'POST /messages', { body: { chatId, ...body } })
const code = async (sandbox: Sandbox, body: object, chatId?: number) =>
  (await send(sandbox, body, chatId)).error?.code

test('a send answers 201 with id and date, and ids grow within the chat', async () => {
  await using sandbox = await open()
  const first = await send(sandbox, { text: 'one' })
  expect(first.status).toBe(201)
  expect(first.result).toEqual({ id: expect.any(Number), date: sandbox.now() })
  expect((await send(sandbox, { text: 'two' })).result.id).toBe(first.result.id + 1)
})

test('a readable chat takes text, and armored is the wrong kind', async () => {
  await using sandbox = await open()
  const wrong = await send(sandbox, { armored: ARMORED })
  expect(wrong.error).toMatchObject({ code: 'wrong_body_kind', status: 400, expected: 'text' })
  const both = await send(sandbox, { armored: ARMORED, text: 'x' })
  expect(both.error).toMatchObject({ code: 'wrong_body_kind', expected: 'text' })
})

test('an encrypted chat takes armored, and text is the wrong kind', async () => {
  await using sandbox = await open()
  await protect(sandbox)
  expect((await send(sandbox, { armored: ARMORED })).status).toBe(201)
  const wrong = await send(sandbox, { text: 'x' })
  expect(wrong.error).toMatchObject({ code: 'wrong_body_kind', expected: 'armored' })
  const group = await send(sandbox, { text: 'x' }, sandbox.home.encryptedGroup)
  expect(group.error).toMatchObject({ code: 'wrong_body_kind', expected: 'armored' })
})

test('no body at all is a bad request that says what was expected', async () => {
  await using sandbox = await open()
  expect((await send(sandbox, {})).error).toMatchObject({ code: 'bad_request', expected: 'text' })
  await protect(sandbox)
  const error = (await send(sandbox, {})).error
  expect(error).toMatchObject({ code: 'bad_request', expected: 'armored' })
})

test('text is 1 to 4096 UTF-16 units, not blank, without control characters', async () => {
  await using sandbox = await open()
  expect((await send(sandbox, { text: 'x'.repeat(4096) })).status).toBe(201)
  expect((await send(sandbox, { text: '😀'.repeat(2048) })).status).toBe(201)
  expect((await send(sandbox, { text: 'tab\tand\nnewline' })).status).toBe(201)
  for (const text of [
    '',
    ' \n ',
    'x'.repeat(4097),
    '😀'.repeat(2049),
    'a\rb',
    'a\u0000',
    '\u001b',
  ]) {
    expect(await code(sandbox, { text }), JSON.stringify(text.slice(0, 9))).toBe('bad_request')
  }
})

test('armored is one message block of at most 131072 characters', async () => {
  await using sandbox = await open()
  await protect(sandbox)
  const line = `${'A'.repeat(63)}\n`
  const long = ARMORED.replace('wV4D', `wV4D${line.repeat(2046)}`)
  expect((await send(sandbox, { armored: long })).status).toBe(201)
  const longer = ARMORED.replace('wV4D', `wV4D${line.repeat(2048)}`)
  for (const armored of ['', 'words', longer, ARMORED.replaceAll('MESSAGE', 'SIGNATURE')]) {
    expect(await code(sandbox, { armored })).toBe('bad_request')
  }
  expect(await code(sandbox, { armored: ARMORED.replace('wV4D', 'AAAA') })).toBe('bad_request')
})

test('a chat that is not there and one without the bot are the same', async () => {
  await using sandbox = await open()
  const { alice, bob } = sandbox.home
  const elsewhere = await sandbox.control.addRoom({ kind: 'group', members: [alice.id, bob.id] })
  expect(await code(sandbox, { text: 'x' }, elsewhere.id)).toBe('chat_not_found')
  expect(await code(sandbox, { text: 'x' }, 1)).toBe('chat_not_found')
  expect(await code(sandbox, { text: 'x' }, -1)).toBe('chat_not_found')
})

test('who blocked the bot or is gone cannot be written to', async () => {
  await using sandbox = await open()
  const { alice, bot } = sandbox.home
  await sandbox.control.block({ userId: alice.id, botId: bot.id })
  expect(await code(sandbox, { text: 'x' })).toBe('blocked_by_user')
  await sandbox.control.unblock({ userId: alice.id, botId: bot.id })
  expect(await code(sandbox, { text: 'x' })).toBeUndefined()
  await sandbox.control.closeAccount({ userId: alice.id })
  expect(await code(sandbox, { text: 'x' })).toBe('user_gone')
})

test('a restricted bot may not write until the restriction ends', async () => {
  await using sandbox = await open()
  const { bot, readableGroup } = sandbox.home
  const until = sandbox.now() + 60_000
  await sandbox.control.setMembership({
    chatId: readableGroup,
    userId: bot.id,
    status: 'restricted',
    restrictedUntil: until,
  })
  expect(await code(sandbox, { text: 'x' }, readableGroup)).toBe('forbidden')
  const chat = await ask(sandbox, `GET /chats/${readableGroup}`)
  expect(chat.result).toMatchObject({ me: { status: 'restricted', restrictedUntil: until } })
  await sandbox.advance(60_000)
  expect((await send(sandbox, { text: 'x' }, readableGroup)).status).toBe(201)
})

test('in a channel only administrators write', async () => {
  await using sandbox = await open()
  const { alice, bot } = sandbox.home
  const channel = await sandbox.control.addRoom({
    kind: 'channel',
    historyVisible: true,
    members: [alice.id, bot.id],
  })
  expect(await code(sandbox, { text: 'x', silent: true }, channel.id)).toBe('forbidden')
  const membership = { chatId: channel.id, userId: bot.id }
  await sandbox.control.setMembership({ ...membership, status: 'admin', rights: 1 })
  expect(await code(sandbox, { text: 'x' }, channel.id)).toBe('forbidden')
  await sandbox.control.setMembership({ ...membership, rights: 16 })
  expect((await send(sandbox, { text: 'x', silent: true }, channel.id)).status).toBe(201)
})

test('a repeated sendId answers 200 with the message already written', async () => {
  await using sandbox = await open()
  const sendId = randomUUID()
  const first = await send(sandbox, { text: 'once', sendId })
  const again = await send(sandbox, { text: 'once', sendId: sendId.toUpperCase() })
  expect([first.status, again.status]).toEqual([201, 200])
  expect(again.result).toEqual(first.result)
  expect(await sandbox.control.messages({ chatId: sandbox.home.privateChat })).toHaveLength(1)
})

test('a repeated sendId answers so whatever the chat takes by now, and whatever is said', async () => {
  await using sandbox = await open()
  const sendId = randomUUID()
  const { result } = await send(sandbox, { text: 'once', sendId })
  await protect(sandbox)
  const bodies = [{ text: 'once' }, { text: 'x'.repeat(5000) }, { armored: 'x' }, { markup: 7 }, {}]
  for (const body of bodies) {
    const again = await send(sandbox, { ...body, sendId })
    expect([again.status, again.result]).toEqual([200, result])
  }
  expect(await code(sandbox, { text: 7, sendId })).toBe('bad_request')
  expect(await code(sandbox, { text: 'once' })).toBe('wrong_body_kind')
})

test('the same sendId in another chat is a conflict, and one that is no UUID a bad request', async () => {
  await using sandbox = await open()
  const sendId = randomUUID()
  await send(sandbox, { text: 'x', sendId })
  expect(await code(sandbox, { text: 'x', sendId }, sandbox.home.readableGroup)).toBe('conflict')
  expect(await code(sandbox, { text: 'x', sendId: 'once' })).toBe('bad_request')
})

test('a reply quotes a message of the same chat; a wrong id is dropped in silence', async () => {
  await using sandbox = await open()
  const { privateChat } = sandbox.home
  const { id } = (await send(sandbox, { text: 'first' })).result
  await send(sandbox, { text: 'second', replyTo: id })
  expect((await send(sandbox, { text: 'third', replyTo: 999 })).status).toBe(201)
  expect((await send(sandbox, { text: 'fourth', replyTo: null })).status).toBe(201)
  const messages = await sandbox.control.messages({ chatId: privateChat })
  expect(messages.map(({ replyTo }) => replyTo)).toEqual([null, id, null, null])
  expect(await outcome(sandbox, 'POST /messages', { body: { text: 'x' } })).toBe('bad_request')
})
