import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { ask, homeScene } from './support.ts'

const type = async (sandbox: Sandbox, chatId: number, body?: unknown) => {
  const path = `POST /chats/${chatId}/typing`
  const response = await ask<{ sent: boolean }>(sandbox, path, body === undefined ? {} : { body })
  return response.ok ? response.result.sent : response.error.code
}

test('`typing: false` sends an update only while an indicator is shown', async () => {
  const { sandbox, privateChat } = await homeScene()
  expect(await type(sandbox, privateChat, { typing: false })).toBe(false)
  await type(sandbox, privateChat)
  expect(await type(sandbox, privateChat, { typing: false })).toBe(true)
  expect(await type(sandbox, privateChat, { typing: false })).toBe(false)
})

test('typing sends no indicator to a person who blocked the bot', async () => {
  const { sandbox, alice, bot, privateChat } = await homeScene()
  await sandbox.control.block({ userId: alice.id, botId: bot.id })
  expect(await type(sandbox, privateChat)).toBe(false)
})

test('a typing indicator of a snapshot ends after its time in the restored world', async () => {
  const { sandbox, alice, privateChat } = await homeScene({ phones: 'all' })
  const shown = async () => {
    const { seen } = await sandbox.control.inbox({ userId: alice.id, kinds: ['typing'] })
    return seen.map((one) => one.kind === 'typing' && one.typing)
  }
  await type(sandbox, privateChat)
  await sandbox.advance(2000)
  sandbox.snapshot('typing')
  await sandbox.restore('typing')
  await sandbox.advance(2999)
  expect(await shown()).toEqual([true])
  await sandbox.advance(1)
  expect(await shown()).toEqual([true, false])
})
