import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { ARMORED, ask, protect, still } from './support.ts'

const open = () => still({ rates: 'off' })
const BUTTON = { inlineKeyboard: [[{ text: 'b', callbackData: 'd' }]] }

async function sent(sandbox: Sandbox, body: object = { text: 'first', markup: BUTTON }) {
  const chatId = sandbox.home.privateChat
  const response = await ask<{ id: number }>(sandbox, 'POST /messages', {
    body: { chatId, ...body },
  })
  return response.result.id
}
const edit = (sandbox: Sandbox, id: number | string, body: object) =>
  ask<{ id: number; date: number }>(sandbox, `PATCH /messages/${id}`, {
    body: { chatId: sandbox.home.privateChat, ...body },
  })
const storedMessage = async (sandbox: Sandbox) =>
  (await sandbox.control.messages({ chatId: sandbox.home.privateChat }))[0]

test('an edit changes the text and not the buttons that it does not mention', async () => {
  await using sandbox = await open()
  const id = await sent(sandbox)
  const response = await edit(sandbox, id, { text: 'second' })
  expect([response.status, response.result.id]).toEqual([200, id])
  expect(await storedMessage(sandbox)).toMatchObject({ text: 'second', markup: BUTTON })
})

test('null removes the buttons and leaves the text', async () => {
  await using sandbox = await open()
  const id = await sent(sandbox)
  expect((await edit(sandbox, id, { markup: null })).status).toBe(200)
  expect(await storedMessage(sandbox)).toMatchObject({ text: 'first', markup: null })
})

test('an edit that changes nothing is a bad request', async () => {
  await using sandbox = await open()
  const id = await sent(sandbox)
  expect((await edit(sandbox, id, {})).error.code).toBe('bad_request')
  const unknown = await edit(sandbox, id, { silent: true })
  expect(unknown.error.code).toBe('bad_request')
})

test('the kind of body follows the chat as it is now', async () => {
  await using sandbox = await open()
  const id = await sent(sandbox)
  const armored = await edit(sandbox, id, { armored: ARMORED })
  expect(armored.error).toMatchObject({ code: 'wrong_body_kind', expected: 'text' })
  await protect(sandbox)
  const text = await edit(sandbox, id, { text: 'x' })
  expect(text.error).toMatchObject({ code: 'wrong_body_kind', expected: 'armored' })
  expect((await edit(sandbox, id, { armored: ARMORED })).status).toBe(200)
  expect(await storedMessage(sandbox)).toMatchObject({ text: null, armored: ARMORED })
})

test('blank text and broken keyboards are refused as on a send', async () => {
  await using sandbox = await open()
  const id = await sent(sandbox)
  expect((await edit(sandbox, id, { text: ' ' })).error.code).toBe('bad_request')
  expect((await edit(sandbox, id, { markup: {} })).error.code).toBe('bad_markup')
})

test('only the bot’s own ordinary messages can be edited', async () => {
  await using sandbox = await open()
  const { alice, bob, bot, privateChat, readableGroup: chatId } = sandbox.home
  const theirs = await sandbox.control.post({ userId: alice.id, chatId: privateChat, text: 'x' })
  expect((await edit(sandbox, theirs.messageId, { text: 'y' })).error.code).toBe('forbidden')
  await sandbox.control.leave({ chatId, userId: bob.id })
  const [notice] = await sandbox.control.messages({ chatId })
  const response = await edit(sandbox, notice?.id ?? 0, { chatId, text: 'y' })
  expect(response.error.code).toBe('forbidden')
  await sandbox.control.leave({ chatId, userId: bot.id })
  await sandbox.control.join({ chatId, userId: bot.id, status: 'admin' })
  const own = (await sandbox.control.messages({ chatId })).at(-1)
  expect(own).toMatchObject({ kind: 'joined', fromId: bot.id })
  expect((await edit(sandbox, own?.id ?? 0, { chatId, text: 'y' })).error.code).toBe('forbidden')
})

test('a message that is not in that chat is not found, nor is one in a chat that is not there', async () => {
  await using sandbox = await open()
  const id = await sent(sandbox)
  expect((await edit(sandbox, id + 1, { text: 'y' })).error.code).toBe('message_not_found')
  expect((await edit(sandbox, 'x', { text: 'y' })).error.code).toBe('message_not_found')
  const { encryptedGroup } = sandbox.home
  const elsewhere = await edit(sandbox, id, { chatId: encryptedGroup, armored: ARMORED })
  expect(elsewhere.error.code).toBe('message_not_found')
  expect((await edit(sandbox, id, { chatId: 1, text: 'y' })).error.code).toBe('chat_not_found')
})

test('who blocked the bot or is gone gets no edits', async () => {
  await using sandbox = await open()
  const { alice, bot } = sandbox.home
  const id = await sent(sandbox)
  await sandbox.control.block({ userId: alice.id, botId: bot.id })
  expect((await edit(sandbox, id, { text: 'y' })).error.code).toBe('blocked_by_user')
  await sandbox.control.closeAccount({ userId: alice.id })
  expect((await edit(sandbox, id, { text: 'y' })).error.code).toBe('user_gone')
})
