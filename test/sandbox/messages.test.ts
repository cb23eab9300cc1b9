import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { ask, homeScene, still } from './support.ts'

interface Got {
  message: Record<string, unknown>
}

async function delivered(sandbox: Sandbox, content: object): Promise<Record<string, unknown>> {
  const { alice, privateChat } = sandbox.home
  await sandbox.control.post({ userId: alice.id, chatId: privateChat, ...content })
  const { result } = await ask<Got[]>(sandbox, 'GET /updates')
  return result.at(-1)?.message ?? {}
}

test('an update contains the quoted message without its own quotation', async () => {
  await using sandbox = await still()
  const first = await delivered(sandbox, { text: 'first' })
  const second = await delivered(sandbox, { text: 'second', replyTo: first['id'] })
  const third = await delivered(sandbox, { text: 'third', replyTo: second['id'] })
  expect(third['replyTo']).toMatchObject({ text: 'second', replyTo: null })
})

test('an update contains only the id of a quoted message from before the bot joined', async () => {
  const { sandbox, alice, bot } = await homeScene()
  const { id: chatId } = await sandbox.control.addRoom({
    kind: 'group',
    historyVisible: true,
    members: [alice.id],
  })
  const post = (text: string, replyTo?: number) =>
    sandbox.control.post({ userId: alice.id, chatId, text, replyTo })
  const { messageId } = await post('before')
  await sandbox.control.join({ chatId, userId: bot.id })
  await post('/look', messageId)
  const { result } = await ask<Got[]>(sandbox, 'GET /updates')
  expect(result.at(-1)?.message['replyTo']).toEqual({ id: messageId })
})
