import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { ask, outcome, useSandbox } from './support.ts'

const sandbox = await useSandbox()

/** Sends a request as it is, to either listener. Gives the whole answer. */
async function raw(url: string, request: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.end(request)
  return await text(socket)
}

const get = (host: string, more = '', path = '/') =>
  `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${more}\r\n`

test('both listeners refuse a request with an Origin or from another site', async () => {
  for (const url of [sandbox.url, sandbox.controlUrl]) {
    for (const line of ['Origin: https://evil.example', 'Sec-Fetch-Site: cross-site']) {
      const answer = await raw(url, get('localhost', `${line}\r\n`))
      expect(answer).toMatch(/^HTTP\/1.1 403 /)
      expect(answer).toContain('postern_browser_refused')
    }
  }
})

test('an answer of the bot API has no CORS header', async () => {
  const answer = await ask(sandbox, 'GET /me')
  const names = [...answer.headers.keys()]
  expect(names.filter((name) => name.startsWith('access-control'))).toEqual([])
})

test('the service answers bytes that are not HTTP with `bad_request`, and closes the connection', async () => {
  const answer = await raw(sandbox.url, 'NONSENSE\r\n\r\n')
  expect(answer).toMatch(/^HTTP\/1.1 400 /)
  expect(answer).toContain('"code":"bad_request"')
})

test('a path with an invalid percent escape is a bad request', async () => {
  const answer = await fetch(`${sandbox.url}/bot/v1/%zz`)
  expect([answer.status, ((await answer.json()) as { ok: boolean }).ok]).toEqual([400, false])
})

test('the authorization scheme is Bearer in any case', async () => {
  for (const scheme of ['bearer', 'BEARER']) {
    const headers = { authorization: `${scheme} ${sandbox.token}` }
    expect(await outcome(sandbox, 'GET /me', { token: null, headers })).toBe(200)
  }
})

test('a request with two valid Authorization headers is unauthorized', async () => {
  const line = `Authorization: Bearer ${sandbox.token}\r\n`
  expect(await raw(sandbox.url, get('localhost', line + line, '/bot/v1/me'))).toContain(
    'unauthorized',
  )
})

test('a path whose prefix has a percent escape still requires the token', async () => {
  expect((await fetch(`${sandbox.url}/bot/%761/me`)).status).toBe(401)
})
