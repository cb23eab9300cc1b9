import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { ask, outcome, still } from './support.ts'

const open = () => still({ rates: 'off' })

async function sent(sandbox: Sandbox, chatId: number): Promise<number> {
  const body = { chatId, text: 'x' }
  return (await ask<{ id: number }>(sandbox, 'POST /messages', { body })).result.id
}

test('a deletion with two chatIds that differ is a bad request', async () => {
  await using sandbox = await open()
  const chatId = sandbox.home.privateChat
  const path = `DELETE /messages/${await sent(sandbox, chatId)}`
  const differ = { body: { chatId: sandbox.home.readableGroup } }
  expect(await outcome(sandbox, `${path}?chatId=${chatId}`, differ)).toBe('bad_request')
})

test('what is no id of a message is not found', async () => {
  await using sandbox = await open()
  const path = `DELETE /messages/x?chatId=${sandbox.home.privateChat}`
  expect(await outcome(sandbox, path)).toBe('message_not_found')
})
