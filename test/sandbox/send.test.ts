import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { ARMORED, ask, protect, still } from './support.ts'

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
