import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { ask, sent, still } from './support.ts'

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
  const messageId = await sent(sandbox, chatId, { text: 'choose', markup })
  const userId = sandbox.home.alice.id
  return (data?: string) => sandbox.control.press({ userId, chatId, messageId, data })
}

test('a button without callbackData, or one that is not there, cannot be pressed', async () => {
  await using sandbox = await still()
  const press = await withButtons(sandbox)
  for (const data of ['https://example.org', 'maybe']) {
    await expect(press(data)).rejects.toThrow('no such button')
  }
})

test('a second press while the first is open is the same press', async () => {
  await using sandbox = await still()
  const press = await withButtons(sandbox)
  const first = await press('yes')
  expect(await press('no')).toEqual(first)
  const { result } = await ask(sandbox, 'GET /updates')
  expect(result).toMatchObject([{ callbackQuery: { id: first.callbackId, data: 'yes' } }])
  await ask(sandbox, `POST /callbacks/${first.callbackId}/answer`)
  expect(await press('yes')).not.toEqual(first)
})
