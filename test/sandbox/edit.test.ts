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

test('an edit that changes nothing is told which kind of body was expected', async () => {
  await using sandbox = await open()
  const { error } = await edit(sandbox, await sent(sandbox), {})
  expect(error).toMatchObject({ code: 'bad_request', expected: 'text' })
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
