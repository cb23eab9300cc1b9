import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { ask, outcome, still } from './support.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await still()
})
afterAll(() => sandbox[Symbol.asyncDispose]())

const send = (body: unknown, headers = {}) => outcome(sandbox, 'POST /messages', { body, headers })

test('only JSON in UTF-8 is taken', async () => {
  const body = JSON.stringify({ chatId: sandbox.home.privateChat, text: 'x' })
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx']) {
    expect(await send(body, { 'content-type': type })).toBe('bad_request')
  }
  expect(await send(body, { 'content-type': 'application/json; charset=utf-8' })).toBe(201)
})

test('what is not JSON, or no object, is a bad request', async () => {
  for (const body of ['{', 'null', '[]', '"x"', '1', '{"chatId":1}x']) {
    expect(await send(body)).toBe('bad_request')
  }
})

test('a body of 256 KiB is read, one byte more is too large', async () => {
  const bytes = 256 * 1024
  expect(await send('x'.repeat(bytes))).toBe('bad_request')
  const over = await ask(sandbox, 'POST /messages', { body: 'x'.repeat(bytes + 1) })
  expect(over.status).toBe(413)
  expect(over.error.code).toBe('too_large')
})

test('an unknown field is named', async () => {
  const response = await ask(sandbox, 'POST /messages', {
    body: { chatId: sandbox.home.privateChat, text: 'x', parseMode: 'html' },
  })
  expect(response.error.code).toBe('bad_request')
  expect(response.error.message).toContain('parseMode')
})

test('an id that JavaScript cannot hold exactly is refused, not rounded', async () => {
  expect(await send('{"chatId":9007199254740993,"text":"x"}')).toBe('bad_request')
  expect(await send('{"chatId":"9100000001","text":"x"}')).toBe('bad_request')
  expect(await send('{"chatId":1.5,"text":"x"}')).toBe('bad_request')
})
