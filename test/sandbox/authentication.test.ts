import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { outcome, useSandbox } from './support.ts'

const sandbox = await useSandbox()

test('the authorization scheme is Bearer in any case, and Basic and Token are refused', async () => {
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

test('a request with two valid Authorization headers is unauthorized', async () => {
  const { port } = new URL(sandbox.url)
  const socket = connect(Number(port), '127.0.0.1')
  const line = `Authorization: Bearer ${sandbox.token}\r\n`
  socket.end(
    `GET /bot/v1/me HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${line}${line}\r\n`,
  )
  expect(await text(socket)).toContain('unauthorized')
})

test('a path whose prefix has a percent escape still requires the token', async () => {
  const answer = await fetch(`${sandbox.url}/bot/%761/me`)
  expect(answer.status).toBe(401)
})
