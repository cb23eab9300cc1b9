import { expect, test } from 'vitest'
import { rawRequest } from './raw-request.ts'
import { A_KEY, ask, outcome, sent, useSandbox } from './support.ts'

const sandbox = await useSandbox()

const send = (body: unknown, headers = {}) => outcome(sandbox, 'POST /messages', { body, headers })

test('a chunked or sized body over 256 KiB is too_large on every path, after the token check', async () => {
  const over = 'x'.repeat(256 * 1024 + 1)
  const { token } = sandbox
  const requests: [string, string][] = [
    ['POST', '/bot/v1/nothing'],
    ['PROPFIND', '/bot/v1/me'],
    ['GET', '/media/none'],
  ]
  for (const [method, path] of requests) {
    for (const framing of ['content-length', 'chunked'] as const) {
      const sendRaw = (body: string, authorization = `Bearer ${token}`) => {
        const length = framing === 'chunked' ? {} : { 'content-length': String(body.length) }
        const chunked = framing === 'chunked' ? { 'transfer-encoding': framing } : {}
        const headers = { authorization, 'content-type': 'application/json', ...length, ...chunked }
        return rawRequest(sandbox.url, { method, path, headers, body })
      }
      const { status, body } = await sendRaw(over)
      expect(status, `${method} ${path}, ${framing}`).toBe(413)
      expect(JSON.parse(body)).toMatchObject({ error: { code: 'too_large' } })
      const fits = await sendRaw(over.slice(1))
      expect(fits.status, `${method} ${path}, ${framing}`).not.toBe(413)
      if (path.startsWith('/media')) continue
      expect((await sendRaw(over, 'Bearer none')).status).toBe(401)
    }
  }
})

test('an unknown field is a named bad request where the specification allows no others, else ignored', async () => {
  const { privateChat: chatId, readableGroup } = sandbox.home
  const more = { parseMode: 'html' }
  const put = { ...A_KEY, ...more }
  const webhook = { url: 'https://93.184.215.14/', ...more }
  for (const [request, body] of [
    ['POST /webhook', webhook],
    ['PUT /commands', { commands: [], ...more }],
    ['PUT /commands', { commands: [{ command: 'a', description: 'x', ...more }] }],
    ['POST /callbacks/none/answer', more],
  ] as const) {
    const { error } = await ask(sandbox, request, { body })
    expect([error.code, error.message.includes('parseMode')]).toEqual(['bad_request', true])
  }
  const buttons = { inlineKeyboard: [[{ text: 'b', callbackData: 'd', ...more }]] }
  expect(await send({ chatId, text: 'x', markup: buttons })).toBe('bad_markup')
  const path = `/messages/${await sent(sandbox, readableGroup, { text: 'x', ...more })}`
  const body = { chatId: readableGroup, text: 'y', ...more }
  expect(await outcome(sandbox, `PATCH ${path}`, { body })).toBe(200)
  expect(await outcome(sandbox, `DELETE ${path}`, { body })).toBe(200)
  const typing = { typing: true, ...more }
  expect(await outcome(sandbox, `POST /chats/${chatId}/typing`, { body: typing })).toBe(200)
  expect(await outcome(sandbox, 'PUT /key', { body: put })).toBe(200)
})
