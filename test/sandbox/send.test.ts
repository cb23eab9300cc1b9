/** Sends, edits and deletions of the bot beyond the cases of test/contract. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { ARMORED, ask, homeScene, outcome, protect, send, sent } from './support.ts'

const open = () => homeScene({ rates: 'off' })
const code = async (...message: Parameters<typeof send>) => (await send(...message)).error?.code
const edit = async (sandbox: Sandbox, id: number | string, body: object) => {
  const whole = { body: { chatId: sandbox.home.privateChat, ...body } }
  return (await ask(sandbox, `PATCH /messages/${id}`, whole)).error
}

test('a send of an armored block that begins with no packet of a message is a bad request', async () => {
  const { sandbox, privateChat } = await open()
  await protect(sandbox)
  const armored = ARMORED.replace('wV4D', 'AAAA')
  expect(await code(sandbox, privateChat, { armored })).toBe('bad_request')
})

test('a bot writes in a channel only as administrator with the right to post', async () => {
  const { sandbox, alice, bot } = await open()
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

test('a repeated `sendId` returns the first message despite another body and another mode of the chat', async () => {
  const { sandbox, privateChat } = await open()
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

test('the refusal of an edit without changes contains the expected kind of body', async () => {
  const { sandbox } = await open()
  const id = await sent(sandbox, sandbox.home.privateChat)
  expect(await edit(sandbox, id, {})).toMatchObject({ code: 'bad_request', expected: 'text' })
})

test('an edit of a message of another chat, and edits and reads of malformed ids, are not found', async () => {
  const { sandbox, privateChat, encryptedGroup } = await open()
  const id = await sent(sandbox, privateChat)
  const notFound = { code: 'message_not_found' }
  expect(await edit(sandbox, id + 1, { text: 'y' })).toMatchObject(notFound)
  expect(await edit(sandbox, 'x', { text: 'y' })).toMatchObject(notFound)
  const elsewhere = { chatId: encryptedGroup, armored: ARMORED }
  expect(await edit(sandbox, id, elsewhere)).toMatchObject(notFound)
  const path = `DELETE /messages/x?chatId=${privateChat}`
  expect(await outcome(sandbox, path)).toBe('message_not_found')
  const member = `GET /chats/${sandbox.home.readableGroup}/members/x`
  expect(await outcome(sandbox, member)).toBe('member_not_found')
})

test('a deletion with different chatIds in query and body is a bad request', async () => {
  const { sandbox, privateChat, readableGroup } = await open()
  const path = `DELETE /messages/${await sent(sandbox, privateChat)}?chatId=${privateChat}`
  expect(await outcome(sandbox, path, { body: { chatId: readableGroup } })).toBe('bad_request')
})

test('slow mode limits sends of members, not edits and not administrators', async () => {
  const { sandbox, bot, readableGroup: chatId } = await homeScene()
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
