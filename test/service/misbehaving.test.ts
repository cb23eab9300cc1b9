import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { OWN_CALL } from '../../src/clients/may-client.ts'
import { plain } from '../support/unseen.ts'
import { describe, expect, test } from 'vitest'
import { FIXED_LIMITS, LIMITS } from '../../src/api/limits.ts'
import { UPSTREAM_LIMITS } from '../../src/service/limits.ts'
import { door, doorTo, failing, no, ok, outbound, rawService, service } from './support.ts'

const CANARY = 'canary-in-a-bad-body'
const head = (status: string, ...lines: string[]) =>
  [`HTTP/1.1 ${status}`, ...lines, '', ''].join('\r\n')

const errorOf = (status: number): string =>
  JSON.stringify({ ok: false, error: { status, code: 'odd', message: CANARY } })

describe('answers that are not the service’s', () => {
  test.each([
    ['an HTML page', 200, {}, `<html>${CANARY}</html>`],
    ['an empty success', 200, {}, ''],
    ['a success without a result', 200, {}, '{"ok":true}'],
    ['an error under a success status', 200, {}, '{"ok":false,"error":{"status":400,"code":"x"}}'],
    ['a success under an error status', 404, {}, '{"ok":true,"result":1}'],
    [
      'an error under another status',
      404,
      {},
      `{"ok":false,"error":{"status":403,"code":"forbidden","message":"${CANARY}"}}`,
    ],
    ['null', 200, {}, 'null'],
    ['truncated JSON', 200, {}, `{"ok":true,"result":"${CANARY}`],
    ['a million brackets', 200, {}, '['.repeat(1_000_000)],
    [
      'an encoding that was not requested',
      200,
      { 'content-encoding': 'gzip' },
      '{"ok":true,"result":1}',
    ],
    [
      'a long chain of encodings',
      200,
      { 'content-encoding': Array.from({ length: 500 }, () => 'gzip').join(', ') },
      '{"ok":true,"result":1}',
    ],
    ['an HTML page of a proxy', 502, { 'content-type': 'text/html' }, `<h1>${CANARY}</h1>`],
    ['an empty 503', 503, {}, ''],
    ['an unknown status', 799, {}, errorOf(799)],
  ])(
    'the answer %s is refused as `postern_upstream_invalid`, and its text is not logged',
    async (_what, status, headers, body) => {
      const { upstream, emitted } = await doorTo((_request, response) => {
        response.writeHead(status, headers)
        response.end(body)
      })
      const error = await failing(upstream.relay({ method: 'GET', path: '/me' }))
      expect(error).toMatchObject({ code: 'postern_upstream_invalid', status: 502 })
      expect(JSON.stringify([error.message, error.stack, error.cause, emitted])).not.toContain(
        CANARY,
      )
      expect(emitted).toEqual([['unreachable', 'postern_upstream_invalid']])
    },
  )

  test.each([301, 302, 303, 307, 308])(
    'a redirect with %i is not followed to another host',
    async (status) => {
      const elsewhere = await service((_request, response) => ok(response, 'stolen'))
      const { upstream, seen } = await doorTo((request, response) => {
        const location = request.url.endsWith('/me') ? `${elsewhere.url}/x` : '/bot/v1/me'
        const error = { status, code: 'moved', message: 'follow me' }
        response.writeHead(status, { location }).end(JSON.stringify({ ok: false, error }))
      })
      for (const path of ['/me', '/commands']) {
        const error = await failing(upstream.relay({ method: 'GET', path }))
        expect(error.code).toBe('postern_upstream_invalid')
      }
      const error = await failing(upstream.send(outbound.send(), OWN_CALL))
      expect(error.code).toBe('postern_upstream_invalid')
      expect(elsewhere.seen).toEqual([])
      expect(seen).toHaveLength(3)
    },
  )

  test('bytes that are not HTTP are refused, and their text is not logged', async () => {
    const { url } = await rawService((socket) => socket.end(`SSH-2.0-${CANARY}\r\n`))
    const { upstream, emitted } = door(url)
    const error = await failing(upstream.relay({ method: 'GET', path: '/me' }))
    expect(error.code).toBe('postern_upstream_invalid')
    expect(JSON.stringify([error.message, error.cause, emitted])).not.toContain(CANARY)
  })

  test.each([
    ['two lengths', ['content-length: 22', 'content-length: 5']],
    ['a list of lengths', ['content-length: 22, 5']],
    ['a length and chunked encoding', ['content-length: 22', 'transfer-encoding: chunked']],
  ])('an answer with %s is refused', async (_what, lines) => {
    const answer = `${head('200 OK', ...lines)}{"ok":true,"result":1}`
    const { url } = await rawService((socket) => socket.end(answer))
    const error = await failing(door(url).upstream.relay({ method: 'GET', path: '/me' }))
    expect(error.code).toMatch(/^postern_upstream_(invalid|unreachable)$/)
  })

  test('endless header lines are refused', async () => {
    const { url } = await rawService((socket) =>
      socket.end(head('200 OK', `x-long: ${'y'.repeat(100_000)}`)),
    )
    const error = await failing(door(url).upstream.relay({ method: 'GET', path: '/me' }))
    expect(error.code).toBe('postern_upstream_invalid')
  })
})

describe('answers that are too large', () => {
  test.each([
    ['with a length', `content-length: ${200 * 2 ** 20}`],
    ['without a length', 'transfer-encoding: chunked'],
  ])('an answer of 200 MB %s is cut off soon after its limit', async (_what, line) => {
    let written = 0
    const { url, closed } = await rawService((socket) => {
      socket.write(head('200 OK', line))
      const chunk = `10000\r\n${'z'.repeat(0x10000)}\r\n`
      const more = () => {
        while (written < 200 * 2 ** 20 && !socket.destroyed) {
          written += chunk.length
          if (!socket.write(chunk)) return socket.once('drain', more)
        }
        return socket
      }
      more()
    })
    const { upstream } = door(url)
    for (const [path, bound] of [
      ['/me', 2 ** 20],
      ['/chats/5/keys', UPSTREAM_LIMITS.maxKeysBytes],
    ] as const) {
      written = 0
      const before = closed()
      const error = await failing(upstream.relay({ method: 'GET', path }))
      expect(error.code).toBe('postern_upstream_invalid')
      expect(error.message).toContain(`larger than ${bound / 2 ** 20} MiB`)
      await expect.poll(closed).toBe(before + 1)
      // beyond the bound lie only what the kernel's buffers held
      expect(written).toBeLessThan(bound + 16 * 2 ** 20)
    }
  })

  test('an answer of the largest updates and one of the largest certificates pass', async () => {
    const armored = 'u'.repeat(LIMITS.armoredMax)
    const update = { kind: 'message', message: { armored, replyTo: { armored } } }
    const certificate = { userId: 1, publicKey: 'k'.repeat(FIXED_LIMITS.publicKeyMax) }
    const { upstream } = await doorTo((request, response) => {
      if (request.url.includes('/updates'))
        ok(
          response,
          Array.from({ length: LIMITS.pollLimitMax }, () => update),
        )
      else ok(response, { keys: Array.from({ length: 900 }, () => certificate) })
    })
    const signal = new AbortController().signal
    const updates = await upstream.poll({ query: '', timeoutSeconds: 0, signal })
    const keys = await upstream.relay({ method: 'GET', path: '/chats/5/keys' })
    expect([updates.status, keys.status]).toEqual([200, 200])
  })

  test('a success of any length is a stream at the pace of its reader, where nothing of it is judged', async () => {
    const one = Buffer.from(JSON.stringify({ userId: 5, rights: 'r'.repeat(65_536) }))
    let written = 0
    const give = async (response: ServerResponse): Promise<void> => {
      response.write('{"ok":true,"result":[')
      for (; written < 1000 && !response.destroyed; written++) {
        if (response.write(Buffer.concat([one, Buffer.from(',')]))) continue
        await once(response, 'drain')
      }
      response.end('0]}')
    }
    const { upstream } = await doorTo((_request, response) => void give(response))
    const asked = { method: 'GET', path: '/chats/5/members', mayStream: true } as const
    const { stream, body } = await upstream.relay(asked)
    expect(body).toHaveLength(0)
    await pause(300)
    // beyond what is read ahead lie only the buffers of the kernel
    expect(written).toBeLessThan(500)
    let bytes = 0
    for await (const piece of stream ?? []) bytes += (piece as Buffer).length
    expect(bytes).toBe('{"ok":true,"result":[0]}'.length + 1000 * (one.length + 1))
  })

  test('a stream that nobody reads to its end closes its connection', async () => {
    const { url, closed } = await rawService((socket) => {
      socket.write(`${head('200 OK', `content-length: ${2 ** 30}`)}{"ok":true,"result":["`)
      socket.write('x'.repeat(3 * 2 ** 20))
    })
    const asked = { method: 'GET', path: '/chats/5/members', mayStream: true } as const
    const left = await door(url).upstream.relay(asked)
    left.stream?.destroy()
    await expect.poll(closed).toBe(1)
    const gone = new AbortController()
    await door(url).upstream.relay({ ...asked, signal: gone.signal })
    gone.abort()
    await expect.poll(closed).toBe(2)
    const late = await door(url, { limits: { callMs: 300 } }).upstream.relay(asked)
    await expect(late.stream?.toArray()).rejects.toMatchObject({ code: 'postern_upstream_timeout' })
  })

  test('a refusal beyond its bound is no stream', async () => {
    const { upstream } = await doorTo((_request, response) => {
      no(response, 404, 'chat_not_found', { error: { message: 'x'.repeat(2 * 2 ** 20) } })
    })
    const asked = { method: 'GET', path: '/chats/5/members', mayStream: true } as const
    expect((await failing(upstream.relay(asked))).code).toBe('postern_upstream_invalid')
  })
})

describe('answers that do not arrive in time', () => {
  // time enough to connect, so that what is counted is what was sent
  const limits = { callMs: 3000, pollSlackMs: 3000, sendFirstMs: 1500, sendTotalMs: 3000 }
  test.concurrent.each([
    ['before the headers', ''],
    ['within the headers', 'HTTP/1.1 200 OK\r\ncontent-le'],
    ['within the body', head('200 OK', 'content-length: 30') + '{"ok":true,'],
  ])('a service that stops sending %s ends every call with a timeout', async (_where, bytes) => {
    const { url, closed } = await rawService((socket) => socket.write(bytes))
    const { upstream, emitted } = door(url, { limits })
    const signal = new AbortController().signal
    const errors = await Promise.all([
      failing(upstream.relay({ method: 'GET', path: '/me' })),
      failing(upstream.ask({ method: 'GET', path: '/me' })),
      failing(upstream.poll({ query: 'timeout=0', timeoutSeconds: 0, signal })),
      failing(upstream.edit(outbound.edit(), OWN_CALL)),
      failing(upstream.send(outbound.send(), OWN_CALL)),
    ])
    for (const error of errors) {
      expect(error).toMatchObject({ code: 'postern_upstream_timeout', status: 504 })
    }
    await expect.poll(closed).toBe(6)
    expect(emitted.filter(([name]) => name === 'unreachable')).toHaveLength(5)
  })

  test.concurrent.each([
    ['headers', 'HTTP/1.1 200 OK\r\nx-drip: '],
    ['body', head('200 OK', 'content-length: 100000')],
  ])('an answer that sends its %s byte by byte ends with a timeout', async (_what, start) => {
    const { url, closed } = await rawService((socket) => {
      socket.write(start)
      const timer = setInterval(() => socket.write('x'), 20)
      socket.on('close', () => clearInterval(timer))
    })
    const { upstream } = door(url, { limits: { ...limits, stallMs: 200 } })
    const error = await failing(upstream.relay({ method: 'GET', path: '/me' }))
    expect(error.code).toBe('postern_upstream_timeout')
    await expect.poll(closed).toBe(1)
  })

  test('a call that waits for a connection ends at its deadline and is never sent', async () => {
    const arrived = Promise.withResolvers<() => void>()
    const { url, seen } = await service((_request, response, nth) => {
      if (nth > 1) ok(response, {})
      else arrived.resolve(() => ok(response, {}))
    })
    const { upstream } = door(url, { limits: { connections: 1 } })
    const first = upstream.relay({ method: 'POST', path: '/chats/1/leave' })
    const answer = await arrived.promise
    const second = upstream.relay({ method: 'POST', path: '/chats/2/leave', deadlineMs: 50 })
    expect((await failing(second)).code).toBe('postern_upstream_timeout')
    answer()
    await first
    await upstream.relay({ method: 'POST', path: '/chats/3/leave' })
    expect(seen.map(({ url: path }) => path)).toEqual([
      '/bot/v1/chats/1/leave',
      '/bot/v1/chats/3/leave',
    ])
  })

  test('`deadlineMs` shortens the time limit of a call and never extends it', async () => {
    const { url } = await rawService(() => {})
    const { upstream } = door(url, { limits: { callMs: 200 } })
    for (const deadlineMs of [50, 3_600_000]) {
      const error = await failing(upstream.relay({ method: 'GET', path: '/me', deadlineMs }))
      expect(error.code).toBe('postern_upstream_timeout')
    }
  })
})

describe('unrequested answers', () => {
  const answer = (result: string) => {
    const body = JSON.stringify({ ok: true, result })
    return head('200 OK', `content-length: ${body.length}`) + body
  }

  test.each([
    ['with the first answer', 'at once'],
    ['after the first answer', 'later'],
  ] as const)(
    'an unrequested answer sent %s is not used for the next call',
    async (_what, when) => {
      const { url } = await rawService((socket, nth) => {
        if (nth > 1) socket.write(answer('honest'))
        else if (when === 'at once') socket.write(answer('first') + answer('poison'))
        else
          socket.write(answer('first'), () => void setTimeout(() => socket.write(answer('poison'))))
      })
      const { upstream } = door(url)
      const first = await upstream.relay({ method: 'GET', path: '/me' })
      expect(plain(first.envelope)).toEqual({ ok: true, result: 'first' })
      await new Promise((resolve) => setTimeout(resolve, 50))
      const second = await upstream.relay({ method: 'GET', path: '/chats/5' })
      expect(plain(second.envelope)).toEqual({ ok: true, result: 'honest' })
    },
  )
})
