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

test('a press is answered once', async () => {
  await using sandbox = await still()
  const { callbackId } = await (await withButtons(sandbox))()
  expect(await answer(sandbox, callbackId)).toBe(200)
  expect(await answer(sandbox, callbackId)).toBe('callback_answered')
  expect(await answer(sandbox, 'nobody')).toBe('callback_not_found')
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

test('60 seconds after the press it is too late', async () => {
  await using sandbox = await still()
  const press = await withButtons(sandbox)
  const { callbackId } = await press()
  await sandbox.advance(60_000)
  expect(await answer(sandbox, callbackId)).toBe(200)
  const late = await press()
  await sandbox.advance(60_001)
  const response = await ask(sandbox, `POST /callbacks/${late.callbackId}/answer`)
  expect([response.status, response.error.code]).toEqual([410, 'callback_expired'])
  expect(await press()).not.toEqual(late)
})

test('another bot’s press is not found', async () => {
  await using sandbox = await still()
  const { callbackId } = await (await withButtons(sandbox))()
  const { token } = await sandbox.control.addBot({ username: 'other_bot' })
  const path = `POST /callbacks/${callbackId}/answer`
  expect(await outcome(sandbox, path, { token })).toBe('callback_not_found')
})

test('an answer keeps within its limits', async () => {
  await using sandbox = await still()
  const { callbackId } = await (await withButtons(sandbox))()
  const wrong = [
    { text: 'x'.repeat(201) },
    { text: 'a\nb' },
    { text: 1 },
    { alert: 'yes' },
    { url: 'ftp://example.org' },
    { url: 'https://a@example.org' },
    { url: `https://example.org/${'x'.repeat(1005)}` },
    { cacheTime: 1 },
    [],
  ]
  for (const body of wrong) {
    expect(await answer(sandbox, callbackId, body), JSON.stringify(body)).toBe('bad_request')
  }
  const body = { text: ` ${'x'.repeat(200)} `, alert: true, url: 'https://example.org' }
  expect(await answer(sandbox, callbackId, body)).toBe(200)
})
