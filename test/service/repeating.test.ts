import { OWN_CALL } from '../../src/clients/may-client.ts'
import { plain } from '../support/unseen.ts'
import { expect, test, vi } from 'vitest'
import { door, doorTo, failing, no, ok, outbound, rawService, service, TOKEN } from './support.ts'

/** Resets the first connection once its request has come whole; answers every later one. */
const resetting = () =>
  rawService((socket, nth, bytes) => {
    bodies.push(bytes.split('\r\n\r\n')[1] ?? '')
    if (nth === 1) socket.resetAndDestroy()
    else socket.end(CREATED)
  })
const CREATED = 'HTTP/1.1 201 Created\r\ncontent-length: 29\r\n\r\n{"ok":true,"result":{"id":9}}'
let bodies: string[] = []

test('a send whose connection is reset is repeated once with the same bytes', async () => {
  bodies = []
  const { url } = await resetting()
  const { upstream, emitted } = door(url)
  const message = outbound.send()
  const answer = await upstream.send(message, OWN_CALL)
  expect(answer.status).toBe(201)
  expect(plain(answer.envelope)).toEqual({ ok: true, result: { id: 9 } })
  expect(bodies).toEqual([message.body, message.body].map(String))
  expect(emitted.map(([name]) => name)).not.toContain('unreachable')
})

test.each([
  ['within the headers', 'HTTP/1.1 200 OK\r\nconte'],
  ['within the body', 'HTTP/1.1 200 OK\r\ncontent-length: 29\r\n\r\n{"ok":tr'],
])('a send whose answer ends %s is repeated', async (_where, bytes) => {
  const { url } = await rawService((socket, nth) => {
    const whole = 'HTTP/1.1 200 OK\r\ncontent-length: 29\r\n\r\n{"ok":true,"result":{"id":9}}'
    socket.end(nth === 1 ? bytes : whole)
  })
  expect((await door(url).upstream.send(outbound.send(), OWN_CALL)).status).toBe(200)
})

test.each([
  ['an HTML page under a 502', 502, '<html>'],
  ['an enveloped 500', 500, ''],
  ['an unreadable success', 201, '{"ok":tr'],
])('a send answered by %s is repeated with the same bytes', async (_what, status, body) => {
  const { url, seen } = await service((_request, response, nth) => {
    if (nth > 1) ok(response, { id: 9 }, 201)
    else if (status === 500) no(response, 500, 'internal')
    else response.writeHead(status).end(body)
  })
  expect((await door(url).upstream.send(outbound.send(), OWN_CALL)).status).toBe(201)
  expect(seen[0]?.body).toBe(seen[1]?.body)
  expect(seen).toHaveLength(2)
})

test('a send whose first attempt is late is repeated within its total time', async () => {
  const { url, seen } = await service((_request, response, nth) => {
    if (nth > 1) ok(response, { id: 9 })
  })
  const { upstream } = door(url, { limits: { sendFirstMs: 1500, sendTotalMs: 30_000 } })
  expect((await upstream.send(outbound.send(), OWN_CALL)).status).toBe(200)
  expect(seen).toHaveLength(2)
})

test('a send is not tried a third time, and the last outcome is returned', async () => {
  const { upstream, seen } = await doorTo((_request, response, nth) => {
    if (nth === 1) response.writeHead(502).end()
    else no(response, 500, 'internal')
  })
  expect((await upstream.send(outbound.send(), OWN_CALL)).status).toBe(500)
  expect(seen).toHaveLength(2)
  const refusing = door('http://127.0.0.1:1')
  const error = await failing(refusing.upstream.send(outbound.send(), OWN_CALL))
  expect(error).toMatchObject({ code: 'postern_upstream_unreachable', status: 502 })
  expect(error.message).toContain('ECONNREFUSED')
  expect(refusing.emitted).toEqual([['unreachable', 'postern_upstream_unreachable']])
})

test.each([
  [429, 'rate_limited'],
  [429, 'slow_mode'],
  [400, 'wrong_body_kind'],
  [409, 'conflict'],
  [503, 'maintenance'],
])('a send answered %i %s is not repeated', async (status, code) => {
  const { url, seen } = await service((_request, response) => no(response, status, code))
  const token = { reveal: () => TOKEN, reload: vi.fn(() => Promise.resolve(false)) }
  expect((await door(url, { token }).upstream.send(outbound.send(), OWN_CALL)).status).toBe(status)
  expect([seen.length, token.reload.mock.calls]).toEqual([1, []])
})

test('an edit, a poll, a DELETE, a POST and a PUT are not repeated after a reset', async () => {
  let requests = 0
  const { url } = await rawService((socket) => {
    requests++
    socket.resetAndDestroy()
  })
  const { upstream } = door(url)
  const calls = [
    () => upstream.edit(outbound.edit(), OWN_CALL),
    () => upstream.relay({ method: 'DELETE', path: '/messages/3?chatId=5' }),
    () => upstream.relay({ method: 'POST', path: '/chats/5/leave' }),
    () => upstream.ask({ method: 'PUT', path: '/key', body: '{}' }),
    () => upstream.poll({ query: '', timeoutSeconds: 0, signal: new AbortController().signal }),
  ]
  for (const [index, call] of calls.entries()) {
    expect((await failing(call())).code).toBe('postern_upstream_unreachable')
    expect(requests).toBe(index + 1)
  }
})

test('a read call is repeated after a reset, and not after a timeout', async () => {
  bodies = []
  const { url } = await resetting()
  expect((await door(url).upstream.relay({ method: 'GET', path: '/me' })).status).toBe(201)
  expect(bodies).toHaveLength(2)

  const slow = await service(() => {})
  const { upstream } = door(slow.url, { limits: { callMs: 1000 } })
  const error = await failing(upstream.ask({ method: 'GET', path: '/me' }))
  expect(error.code).toBe('postern_upstream_timeout')
  expect(slow.seen).toHaveLength(1)
})

test.each([
  ['stalls', 'write', 'postern_upstream_timeout'],
  ['breaks off within the body', 'end', 'postern_upstream_unreachable'],
] as const)('a read call whose answer %s is not repeated', async (_how, how, code) => {
  let requests = 0
  const { url } = await rawService((socket) => {
    requests++
    socket[how]('HTTP/1.1 200 OK\r\ncontent-length: 29\r\n\r\n{"ok":tr')
  })
  const { upstream } = door(url, { limits: { stallMs: 50, callMs: 300_000 } })
  const error = await failing(upstream.relay({ method: 'GET', path: '/me' }))
  expect([error.code, requests]).toEqual([code, 1])
})

test('a repeated call of the sidecar’s own counts twice in the budget', async () => {
  const { url } = await resetting()
  const { upstream, emitted } = door(url)
  await upstream.ask({ method: 'GET', path: '/me' })
  expect(emitted).toContainEqual(['budget', { usedLastMinute: 2, limit: 100 }])
})

test.each(['its time is over', 'its caller leaves', 'the sidecar stops'])(
  'a call is not repeated when %s',
  async (when) => {
    const leaving = new AbortController()
    const { url, sockets } = await rawService((socket) => {
      socket.resetAndDestroy()
      if (when === 'its caller leaves') setTimeout(() => leaving.abort(), 50)
      if (when === 'the sidecar stops') setTimeout(() => void upstream[Symbol.asyncDispose](), 50)
    })
    const callMs = when === 'its time is over' ? 50_000 : 200_000
    const { upstream } = door(url, { limits: { retryPauseMs: 50_000, callMs } })
    await failing(upstream.relay({ method: 'GET', path: '/me', signal: leaving.signal }))
    expect(sockets).toHaveLength(1)
  },
)

const source = (tokens: string[]) => {
  let at = 0
  return {
    reveal: () => tokens[at] ?? '',
    reload: () => {
      const changed = at + 1 < tokens.length
      if (changed) at++
      return Promise.resolve(changed)
    },
  }
}
const picky = (accepted: string) =>
  service((request, response) =>
    request.headers.authorization === `Bearer ${accepted}`
      ? ok(response, { id: 9 })
      : no(response, 401, 'unauthorized'),
  )

test('every kind of call is repeated with the reloaded token after a 401', async () => {
  const { url, seen } = await picky('new')
  for (const call of ['send', 'edit', 'relay', 'poll'] as const) {
    const { upstream, emitted } = door(url, { token: source(['old', 'new']) })
    const answer = await {
      send: () => upstream.send(outbound.send(), OWN_CALL),
      edit: () => upstream.edit(outbound.edit(), OWN_CALL),
      relay: () => upstream.relay({ method: 'POST', path: '/chats/5/leave' }),
      poll: () =>
        upstream.poll({ query: '', timeoutSeconds: 0, signal: new AbortController().signal }),
    }[call]()
    expect(answer.status).toBe(200)
    expect(emitted.map(([name]) => name)).not.toContain('unauthorized')
  }
  const { upstream, emitted } = door(url, { token: source(['old', 'new']) })
  await upstream.ask({ method: 'GET', path: '/me' })
  expect(emitted).toContainEqual(['budget', { usedLastMinute: 2, limit: 100 }])
  expect(seen).toHaveLength(10)
})

test('a 401 is returned when the reloaded token is the same or cannot be read', async () => {
  const { url, seen } = await picky('other')
  const sources = [
    source([TOKEN]),
    { reveal: () => TOKEN, reload: () => Promise.reject(new Error('file is gone')) },
  ]
  for (const token of sources) {
    const { upstream, emitted } = door(url, { token })
    expect((await upstream.relay({ method: 'GET', path: '/me' })).status).toBe(401)
    expect(emitted.map(([name]) => name)).toContain('unauthorized')
  }
  expect(seen).toHaveLength(2)
})

test('a call is not tried with a third token after two 401', async () => {
  const { url, seen } = await picky('third')
  const { upstream, emitted } = door(url, { token: source(['old', 'new', 'third']) })
  expect((await upstream.relay({ method: 'GET', path: '/me' })).status).toBe(401)
  expect(seen).toHaveLength(2)
  expect(emitted.map(([name]) => name)).toContain('unauthorized')
})

test('concurrent calls refused with 401 are all repeated with the reloaded token', async () => {
  const { url, seen } = await picky('new')
  const { upstream } = door(url, { token: source(['old', 'new']) })
  const calls = Array.from({ length: 5 }, () => upstream.relay({ method: 'GET', path: '/me' }))
  for (const { status } of await Promise.all(calls)) expect(status).toBe(200)
  expect(seen).toHaveLength(10)
})
