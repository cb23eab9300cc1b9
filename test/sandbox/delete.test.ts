import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { ask, outcome, still } from './support.ts'

const open = () => still({ rates: 'off' })

async function sent(sandbox: Sandbox, chatId: number): Promise<number> {
  const body = { chatId, text: 'x' }
  return (await ask<{ id: number }>(sandbox, 'POST /messages', { body })).result.id
}

test('chatId stands in the query or in a body', async () => {
  await using sandbox = await open()
  const chatId = sandbox.home.privateChat
  const one = await sent(sandbox, chatId)
  const two = await sent(sandbox, chatId)
  const byQuery = await ask(sandbox, `DELETE /messages/${one}?chatId=${chatId}`)
  expect([byQuery.status, byQuery.result]).toEqual([200, { deleted: true }])
  expect(await outcome(sandbox, `DELETE /messages/${two}`, { body: { chatId } })).toBe(200)
  expect(await sandbox.control.messages({ chatId })).toEqual([])
})

test('without chatId, or with two that differ, it is a bad request', async () => {
  await using sandbox = await open()
  const chatId = sandbox.home.privateChat
  const id = await sent(sandbox, chatId)
  const path = `DELETE /messages/${id}`
  expect(await outcome(sandbox, path)).toBe('bad_request')
  expect(await outcome(sandbox, `${path}?chatId=x`)).toBe('bad_request')
  const differ = { body: { chatId: sandbox.home.readableGroup } }
  expect(await outcome(sandbox, `${path}?chatId=${chatId}`, differ)).toBe('bad_request')
})

test('a message already gone is not found', async () => {
  await using sandbox = await open()
  const chatId = sandbox.home.privateChat
  const path = `DELETE /messages/${await sent(sandbox, chatId)}?chatId=${chatId}`
  expect(await outcome(sandbox, path)).toBe(200)
  expect(await outcome(sandbox, path)).toBe('message_not_found')
  expect(await outcome(sandbox, `DELETE /messages/x?chatId=${chatId}`)).toBe('message_not_found')
  expect(await outcome(sandbox, 'DELETE /messages/1?chatId=1')).toBe('chat_not_found')
})

test('others’ messages need the right to delete, which nobody has in a private chat', async () => {
  await using sandbox = await open()
  const { alice, bot, privateChat, readableGroup } = sandbox.home
  const theirs = async (chatId: number) => {
    const { messageId } = await sandbox.control.post({ userId: alice.id, chatId, text: 'x' })
    return `DELETE /messages/${messageId}?chatId=${chatId}`
  }
  expect(await outcome(sandbox, await theirs(privateChat))).toBe('forbidden')
  const path = await theirs(readableGroup)
  expect(await outcome(sandbox, path)).toBe('forbidden')
  const membership = { chatId: readableGroup, userId: bot.id }
  await sandbox.control.setMembership({ ...membership, status: 'admin', rights: 16 })
  expect(await outcome(sandbox, path)).toBe('forbidden')
  await sandbox.control.setMembership({ ...membership, rights: 1 })
  expect(await outcome(sandbox, path)).toBe(200)
})

test('service notices cannot be deleted', async () => {
  await using sandbox = await open()
  const { bob, bot, readableGroup: chatId } = sandbox.home
  await sandbox.control.setMembership({ chatId, userId: bot.id, status: 'owner' })
  await sandbox.control.leave({ chatId, userId: bob.id })
  const [notice] = await sandbox.control.messages({ chatId })
  expect(await outcome(sandbox, `DELETE /messages/${notice?.id}?chatId=${chatId}`)).toBe(
    'forbidden',
  )
})
