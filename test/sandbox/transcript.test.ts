import { expect, test } from 'vitest'
import { createSandbox } from '../../src/sandbox/create.ts'
import { ask, outcome, still } from './support.ts'

test('the transcript records method, path, headers, body and answer of a call', async () => {
  await using sandbox = await still()
  const body = { chatId: sandbox.home.privateChat, text: 'hello' }
  await ask(sandbox, 'POST /messages', { body, headers: { 'x-mark': 'here' } })
  const [call] = sandbox.transcript.list()
  expect(call).toMatchObject({
    n: 1,
    by: 'api',
    method: 'POST',
    path: '/bot/v1/messages',
    body: JSON.stringify(body),
    status: 201,
  })
  expect(call?.headers).toContain('here')
  expect(JSON.parse(call?.answer ?? '')).toMatchObject({ ok: true })
})

test('`transcript.search` finds text in every part of a call, encoded or refused too', async () => {
  await using sandbox = await still()
  const canary = 'canary-7f3a'
  const places = [
    () => outcome(sandbox, 'POST /messages', { body: { text: canary } }),
    () => outcome(sandbox, `GET /updates?${canary}`),
    () => outcome(sandbox, `GET /resolve/%63anary-7f3a`),
    () => outcome(sandbox, 'GET /me', { headers: { 'x-note': canary } }),
    () => outcome(sandbox, 'POST /nothing', { body: canary, headers: { 'content-type': 'a/b' } }),
    () => outcome(sandbox, 'POST /messages', { body: canary, token: null }),
    () => outcome(sandbox, 'POST /messages', { body: canary.padEnd(300_000) }),
    () => outcome(sandbox, 'POST /messages', { body: Buffer.from(canary).toString('base64') }),
  ]
  for (const [index, place] of places.entries()) {
    await place()
    expect(sandbox.transcript.search(canary).at(-1)?.n, String(index)).toBe(index + 1)
  }
  expect(sandbox.transcript.search('another-canary')).toEqual([])
})

test('the transcript keeps the newest `transcriptCalls` calls, and none for 0', async () => {
  await using sandbox = await createSandbox({ transcriptCalls: 3 })
  for (let n = 0; n < 10; n++) await ask(sandbox, 'GET /me')
  expect(sandbox.transcript.list().map(({ n }) => n)).toEqual([8, 9, 10])
  expect(sandbox.transcript.list(9)).toHaveLength(1)
  sandbox.transcript.clear()
  expect(sandbox.transcript.list()).toEqual([])
  await using none = await createSandbox({ transcriptCalls: 0 })
  await ask(none, 'GET /me')
  expect(none.transcript.list()).toEqual([])
})
