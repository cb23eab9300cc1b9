import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { ask, outcome, still } from './support.ts'

const markup = {
  inlineKeyboard: [
    [
      { text: 'yes', callbackData: 'yes' },
      { text: 'no', callbackData: 'no' },
      { text: 'web', url: 'https://example.org' },
    ],
  ],
}

/** The bot sends a message with buttons; gives what it takes to press them. */
async function withButtons(sandbox: Sandbox) {
  const chatId = sandbox.home.privateChat
  const body = { chatId, text: 'choose', markup }
  const { result } = await ask<{ id: number }>(sandbox, 'POST /messages', { body })
  const userId = sandbox.home.alice.id
  return (data?: string) => sandbox.control.press({ userId, chatId, messageId: result.id, data })
}
const answer = (sandbox: Sandbox, id: string, body?: unknown) =>
  outcome(sandbox, `POST /callbacks/${id}/answer`, body === undefined ? {} : { body })

test('a press reaches the bot with its data, who pressed, and the message', async () => {
  await using sandbox = await still()
  const press = await withButtons(sandbox)
  const { callbackId } = await press('no')
  expect((await ask(sandbox, 'GET /updates')).result).toEqual([
    {
      updateId: expect.any(Number),
      kind: 'callback_query',
      callbackQuery: {
        id: callbackId,
        from: expect.objectContaining({ id: sandbox.home.alice.id, isBot: false }),
        message: expect.objectContaining({ text: 'choose', kind: 'user' }),
        data: 'no',
      },
    },
  ])
})

test('a button without callbackData, or one that is not there, cannot be pressed', async () => {
  await using sandbox = await still()
  const press = await withButtons(sandbox)
  await expect(press('https://example.org')).rejects.toThrow('no such button')
})

test('a second press while the first is open is the same press', async () => {
  await using sandbox = await still()
  const press = await withButtons(sandbox)
  const first = await press('yes')
  expect(await press('no')).toEqual(first)
  expect((await ask(sandbox, 'GET /updates')).result).toHaveLength(1)
  await answer(sandbox, first.callbackId)
  expect(await press('yes')).not.toEqual(first)
})
