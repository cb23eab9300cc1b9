import type { Socket } from 'node:net'
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises'
import { OWN_CALL } from '../../src/clients/may-client.ts'
import { expect, onTestFinished, test, vi } from 'vitest'
import { door, doorTo, failing, no, ok, outbound, rawService, service, TOKEN } from './support.ts'

/** undici keeps a connection for the next request a moment after the answer. */
const untilIdle = async (): Promise<void> => await pause(20)

async function inPieces(socket: Socket, text: string, size: number): Promise<void> {
  socket.setNoDelay(true)
  for (let at = 0; at < text.length; at += size) {
    socket.write(text.slice(at, Math.min(at + size, text.length)))
    await turn()
  }
}

test('every request carries the token and a fixed set of headers, below the path of the base URL', async () => {
  const { url, seen } = await service((_request, response) => ok(response, { sent: true }))
  const { upstream } = door(`${url}/behind/a/path/`)
  await upstream.relay({ method: 'POST', path: '/chats/5/typing', body: '{"typing":true}' })
  await upstream.relay({ method: 'GET', path: '/me?x=a%20b' })
  await upstream.relay({ method: 'POST', path: '/chats/5/leave', body: '' })
  expect(seen.map(({ method, url: path, body }) => [method, path, body])).toEqual([
    ['POST', '/behind/a/path/bot/v1/chats/5/typing', '{"typing":true}'],
    ['GET', '/behind/a/path/bot/v1/me?x=a%20b', ''],
    ['POST', '/behind/a/path/bot/v1/chats/5/leave', ''],
  ])
  const [first, second, third] = seen.map(({ headers }) => headers)
  expect(Object.keys(first ?? {}).toSorted()).toEqual([
    'accept',
    'accept-encoding',
    'authorization',
    'connection',
    'content-length',
    'content-type',
    'host',
    'user-agent',
  ])
  expect(first).toMatchObject({
    authorization: `Bearer ${TOKEN}`,
    'accept-encoding': 'identity',
    'content-type': 'application/json',
    'user-agent': expect.stringMatching(/^postern\/\d+\.\d+\.\d+$/),
  })
  expect(second).not.toHaveProperty('content-type')
  expect(third).toMatchObject({ 'content-length': '0' })
  expect(third).not.toHaveProperty('content-type')
})

test('an error of the service is returned as an answer, with its Retry-After', async () => {
  const { upstream, emitted } = await doorTo((_request, response) =>
    no(response, 429, 'flood_wait', { error: { retryAfter: 12 }, headers: { 'retry-after': '3' } }),
  )
  const answer = await upstream.send(outbound.send(), OWN_CALL)
  expect(answer).toMatchObject({ status: 429, headers: { 'retry-after': '3' } })
  expect(answer.envelope).toMatchObject({ ok: false, error: { code: 'flood_wait' } })
  const told = { route: 'POST /messages', status: 429, code: 'flood_wait', own: false }
  expect(emitted).toEqual([
    ['answered', { ...told, ms: expect.any(Number) }],
    ['clock', 0],
  ])
})

test('the `answered` event has the pattern of the route, and `bot_paused` emits `paused`', async () => {
  const { upstream, emitted } = await doorTo((request, response) =>
    request.url.endsWith('/no/such') ? no(response, 403, 'bot_paused') : ok(response, {}),
  )
  for (const path of ['/chats/5', '/no/such']) await upstream.relay({ method: 'GET', path })
  expect(emitted).toMatchObject([
    ['answered', { route: 'GET /chats/:chatId' }],
    ['clock', 0],
    ['answered', { route: 'GET other', code: 'bot_paused' }],
    ['clock', 0],
    ['paused'],
  ])
})

const RESULT = 'HTTP/1.1 200 OK\r\ncontent-length: 23\r\n\r\n{"ok":true,"result":[]}'
const INTERIM = {
  'Early Hints': 'HTTP/1.1 103 Early Hints\r\nlocation: /\r\n\r\n',
  Continue: 'HTTP/1.1 100 Continue\r\n\r\n',
  'Continue with a header': 'HTTP/1.1 100 Continue\r\nx: y\r\n\r\n',
  'Continue without words': 'HTTP/1.1 100\r\n\r\n',
  'Continue twice': 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(2),
  'Processing, then Continue': 'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n',
}
test.each(Object.entries(INTERIM))(
  'an unrequested response %s is read past, whole and byte by byte',
  async (_what, interim) => {
    for (const size of [Infinity, 1]) {
      const { url, sockets } = await rawService((socket) => {
        void inPieces(socket, interim + RESULT, size)
      })
      const { upstream } = door(url)
      for (const _turn of [1, 2]) {
        expect((await upstream.relay({ method: 'GET', path: '/me' })).status).toBe(200)
        await untilIdle()
      }
      expect(sockets).toHaveLength(1)
    }
  },
)

test('words of a body that begin as a response 100 are the same to the bot', async () => {
  const body = JSON.stringify({ ok: true, result: 'HTTP/1.1 100 Continue' })
  const { upstream } = await doorTo((_request, response) => {
    response.write(body.slice(0, 21))
    setTimeout(() => response.end(body.slice(21)), 20)
  })
  const { body: received } = await upstream.relay({ method: 'GET', path: '/me' })
  expect(received.toString()).toBe(body)
})

test('a response 100 and no other is no answer', async () => {
  const { url } = await rawService((socket) => socket.end('HTTP/1.1 100 Continue\r\n\r\n'))
  const error = await failing(door(url).upstream.relay({ method: 'POST', path: '/chats/5/typing' }))
  expect(error.code).toBe('postern_upstream_unreachable')
})

test('clock skew is reported from a valid Date header only', async () => {
  const ahead = (ms: number) => (): string => new Date(Date.now() + ms).toUTCString()
  const dates = [ahead(0), ahead(600_000), ahead(-600_000)]
  const { upstream, emitted } = await doorTo((_request, response, nth) => {
    response.sendDate = false
    const date = [...dates, () => undefined, () => 'soon'][nth - 1]?.()
    if (date !== undefined) response.setHeader('date', date)
    ok(response, [])
  })
  for (let n = 0; n < 5; n++) await upstream.relay({ method: 'GET', path: '/me' })
  const skews = emitted.filter(([name]) => name === 'clock').map(([, skewMs]) => Number(skewMs))
  expect(skews).toHaveLength(3)
  expect(skews[0]).toBe(0)
  expect(skews[1]).toBeLessThan(-590_000)
  expect(skews[2]).toBeGreaterThan(590_000)
})
test.each([3_600_000, -3_600_000])(
  'a wall clock set by %i ms during a call is read after the call',
  async (setByMs) => {
    const nowMs = Date.now()
    vi.useFakeTimers({ now: nowMs, toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const { upstream, emitted } = await doorTo((_request, response) => {
      response.setHeader('date', new Date(nowMs).toUTCString())
      vi.setSystemTime(nowMs + setByMs)
      ok(response, [])
    })
    await upstream.relay({ method: 'GET', path: '/me' })
    const [, skewMs] = emitted.find(([name]) => name === 'clock') ?? []
    expect(Math.abs(Number(skewMs) - setByMs)).toBeLessThan(30_000)
  },
)
