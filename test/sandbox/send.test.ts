/** Messages of the bot: what the cases of test/contract do not ask of sends, edits and deletions. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { ARMORED, ask, BUTTON, outcome, protect, send, sent, still } from './support.ts'

const open = () => still({ rates: 'off' })
const code = async (...message: Parameters<typeof send>) => (await send(...message)).error?.code
const edit = async (sandbox: Sandbox, id: number | string, body: object) => {
  const whole = { body: { chatId: sandbox.home.privateChat, ...body } }
  return (await ask(sandbox, `PATCH /messages/${id}`, whole)).error
}

test('a send answers 201 with id and date, and ids grow within the chat', async () => {
  await using sandbox = await open()
  const { privateChat } = sandbox.home
  const { status, result } = await send(sandbox, privateChat)
  expect([status, result]).toEqual([201, { id: expect.any(Number), date: sandbox.now() }])
  expect(await sent(sandbox, privateChat)).toBe(result.id + 1)
})

test('armored is one message block of at most 131072 characters', async () => {
  await using sandbox = await open()
  const { privateChat } = sandbox.home
  await protect(sandbox)
  const line = `${'A'.repeat(63)}\n`
  const long = ARMORED.replace('wV4D', `wV4D${line.repeat(2046)}`)
  expect((await send(sandbox, privateChat, { armored: long })).status).toBe(201)
  const longer = ARMORED.replace('wV4D', `wV4D${line.repeat(2048)}`)
  const others = [ARMORED.replaceAll('MESSAGE', 'SIGNATURE'), ARMORED.replace('wV4D', 'AAAA')]
  for (const armored of ['', 'words', longer, ...others]) {
    expect(await code(sandbox, privateChat, { armored })).toBe('bad_request')
  }
})

test('a restricted bot may not write until the restriction ends', async () => {
  await using sandbox = await open()
  const { bot, readableGroup: chatId } = sandbox.home
  const restrictedUntil = sandbox.now() + 60_000
  const membership = { chatId, userId: bot.id, restrictedUntil }
  await sandbox.control.setMembership({ ...membership, status: 'restricted' })
  expect(await code(sandbox, chatId)).toBe('forbidden')
  await sandbox.advance(60_000)
  expect((await send(sandbox, chatId)).status).toBe(201)
})

test('in a channel only administrators write', async () => {
  await using sandbox = await open()
  const { alice, bot } = sandbox.home
  const members = [alice.id, bot.id]
  const room = { kind: 'channel', historyVisible: true, members } as const
  const { id: chatId } = await sandbox.control.addRoom(room)
  const silent = { text: 'x', silent: true }
  expect(await code(sandbox, chatId, silent)).toBe('forbidden')
  const membership = { chatId, userId: bot.id }
  await sandbox.control.setMembership({ ...membership, status: 'admin', rights: 1 })
  expect(await code(sandbox, chatId)).toBe('forbidden')
  await sandbox.control.setMembership({ ...membership, rights: 16 })
  expect((await send(sandbox, chatId, silent)).status).toBe(201)
})

test('a repeated sendId answers so whatever the chat takes by now, and whatever is said', async () => {
  await using sandbox = await open()
  const { privateChat } = sandbox.home
  const sendId = randomUUID()
  const { result } = await send(sandbox, privateChat, { text: 'once', sendId })
  await protect(sandbox)
  const bodies = [{ text: 'once' }, { text: 'x'.repeat(5000) }, { armored: 'x' }, { markup: 7 }, {}]
  for (const body of bodies) {
    const again = await send(sandbox, privateChat, { ...body, sendId })
    expect([again.status, again.result]).toEqual([200, result])
  }
  expect(await code(sandbox, privateChat, { text: 7, sendId })).toBe('bad_request')
  expect(await code(sandbox, privateChat, { text: 'once' })).toBe('wrong_body_kind')
})

test('an edit that changes nothing is told which kind of body was expected', async () => {
  await using sandbox = await open()
  const id = await sent(sandbox, sandbox.home.privateChat)
  expect(await edit(sandbox, id, {})).toMatchObject({ code: 'bad_request', expected: 'text' })
})

test('the kind of body of an edit follows the chat as it is now', async () => {
  await using sandbox = await open()
  const { privateChat: chatId } = sandbox.home
  const id = await sent(sandbox, chatId, { text: 'first', markup: BUTTON })
  const wrong = { code: 'wrong_body_kind' }
  expect(await edit(sandbox, id, { armored: ARMORED })).toMatchObject({
    ...wrong,
    expected: 'text',
  })
  await protect(sandbox)
  expect(await edit(sandbox, id, { text: 'x' })).toMatchObject({ ...wrong, expected: 'armored' })
  expect(await edit(sandbox, id, { armored: ARMORED })).toBeUndefined()
  const edited = { text: null, armored: ARMORED, markup: BUTTON }
  expect(await sandbox.control.messages({ chatId })).toMatchObject([edited])
})

test('a message of another chat, and what is no id, is not found by edits and deletions', async () => {
  await using sandbox = await open()
  const { privateChat, encryptedGroup } = sandbox.home
  const id = await sent(sandbox, privateChat)
  const notFound = { code: 'message_not_found' }
  expect(await edit(sandbox, id + 1, { text: 'y' })).toMatchObject(notFound)
  expect(await edit(sandbox, 'x', { text: 'y' })).toMatchObject(notFound)
  const elsewhere = { chatId: encryptedGroup, armored: ARMORED }
  expect(await edit(sandbox, id, elsewhere)).toMatchObject(notFound)
  const path = `DELETE /messages/x?chatId=${privateChat}`
  expect(await outcome(sandbox, path)).toBe('message_not_found')
})

test('a deletion with two chatIds that differ is a bad request', async () => {
  await using sandbox = await open()
  const { privateChat, readableGroup } = sandbox.home
  const path = `DELETE /messages/${await sent(sandbox, privateChat)}?chatId=${privateChat}`
  expect(await outcome(sandbox, path, { body: { chatId: readableGroup } })).toBe('bad_request')
})

test('slow mode holds sends apart, but not edits, nor administrators', async () => {
  await using sandbox = await still()
  const { bot, readableGroup: chatId } = sandbox.home
  await sandbox.control.changeChat({ chatId, slowModeSeconds: 30 })
  const id = await sent(sandbox, chatId)
  expect(await code(sandbox, chatId)).toBe('slow_mode')
  expect(await edit(sandbox, id, { chatId, text: 'y' })).toBeUndefined()
  await sandbox.control.setMembership({ chatId, userId: bot.id, status: 'admin' })
  expect((await send(sandbox, chatId)).status).toBe(201)
  await sandbox.control.setMembership({ chatId, userId: bot.id, status: 'member' })
  expect(await code(sandbox, chatId)).toBe('slow_mode')
  await sandbox.advance(30_000)
  expect((await send(sandbox, chatId)).status).toBe(201)
})
