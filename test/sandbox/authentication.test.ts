import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ENDPOINTS } from '../../src/api/endpoints.ts'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { ask, outcome, still } from './support.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await still()
})
afterAll(() => sandbox[Symbol.asyncDispose]())

test('every endpoint wants a token', async () => {
  for (const { method, path } of ENDPOINTS) {
    expect(await outcome(sandbox, `${method} ${path}`, { token: null }), path).toBe('unauthorized')
  }
})

test('a token of another bot, with a letter more, or of no shape at all is refused', async () => {
  const other = sandbox.token.replace(/_\d+/, '_82999999')
  const twin = sandbox.token.replace(/.{8}$/, 'AAAAAAAA')
  for (const token of [other, twin, `${sandbox.token}x`, sandbox.token.slice(0, -1), 'x', '']) {
    expect(await outcome(sandbox, 'GET /me', { token })).toBe('unauthorized')
  }
})

test('the scheme is Bearer in any case, and nothing else', async () => {
  const scheme = (word: string) =>
    outcome(sandbox, 'GET /me', {
      token: null,
      headers: { authorization: `${word} ${sandbox.token}` },
    })
  expect(await scheme('bearer')).toBe(200)
  expect(await scheme('BEARER')).toBe(200)
  expect(await scheme('Basic')).toBe('unauthorized')
  expect(await scheme('Token')).toBe('unauthorized')
})

test('two Authorization lines are refused even when both are right', async () => {
  const { port } = new URL(sandbox.url)
  const socket = connect(Number(port), '127.0.0.1')
  const line = `Authorization: Bearer ${sandbox.token}\r\n`
  socket.end(
    `GET /bot/v1/me HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${line}${line}\r\n`,
  )
  expect(await text(socket)).toContain('unauthorized')
})

test('an unknown path wants a token first, and is not_found with one', async () => {
  expect(await outcome(sandbox, 'GET /nothing', { token: null })).toBe('unauthorized')
  expect(await outcome(sandbox, 'GET /nothing')).toBe('not_found')
  expect(await outcome(sandbox, 'PUT /me')).toBe('not_found')
  expect(await outcome(sandbox, 'OPTIONS /me')).toBe('not_found')
})

test('a path spelt with escapes does not slip past the token', async () => {
  const answer = await fetch(`${sandbox.url}/bot/%761/me`)
  expect(answer.status).toBe(401)
})

test('every answer is the envelope with the status of its line', async () => {
  const me = await ask(sandbox, 'GET /me')
  expect(me).toMatchObject({ ok: true, status: 200 })
  expect(me.headers.get('content-type')).toContain('application/json')
  const no = await ask(sandbox, 'GET /nothing')
  expect(no.error).toEqual({ status: 404, code: 'not_found', message: expect.any(String) })
})
