/** Which requests a door lets on, by their head alone. */
import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { describe, expect, test } from 'vitest'
import { checkRequest, checkRouted } from '../../src/http/admission.ts'
import { requireBearer } from '../../src/http/auth.ts'
import { bodyProblem, mayBeLong } from '../../src/http/body.ts'
import { DOOR_BOUNDS } from '../../src/http/bounds.ts'
import { Refusal } from '../../src/errors.ts'

/** A request as Node gives it. */
function requestOf(lines: string[], o: { url?: string | undefined } = {}) {
  const rawHeaders = lines.flatMap((line) => [
    line.slice(0, line.indexOf(':')),
    line.slice(line.indexOf(':') + 1).trim(),
  ])
  const headers: Record<string, string> = {}
  for (let at = 0; at < rawHeaders.length; at += 2) {
    headers[rawHeaders[at]!.toLowerCase()] ??= rawHeaders[at + 1]!
  }
  return { rawHeaders, headers, url: '/bot/v1/me', ...o } as unknown as IncomingMessage
}

const options = {
  bounds: DOOR_BOUNDS,
  hosts: new Set<string>(['sidecar']),
  anyHost: new Set(['/healthz']),
  authorize: () => null,
}

describe('before any routing', () => {
  const many = (count: number) => Array.from({ length: count }, (_none, n) => `X-${n}: 1`)
  const LOCAL = 'Host: localhost'
  test.each([
    ['a known host', [LOCAL], {}, null],
    ['a named one', ['Host: sidecar'], {}, null],
    ['a strange one', ['Host: x'], {}, [421, 'postern_host_refused', /./]],
    ['a strange one for a probe', ['Host: x'], { url: '/healthz?a=1' }, null],
    [
      'a page for a probe',
      ['Origin: x'],
      { url: '/healthz' },
      [403, 'postern_browser_refused', /./],
    ],
    ['no url', [LOCAL], { url: undefined }, [400, 'bad_request', /must be a path/]],
    ['a path of 2048', [LOCAL], { url: `/${'x'.repeat(2047)}` }, null],
    ['a longer one', [LOCAL], { url: `/${'x'.repeat(2048)}` }, [400, 'bad_request', /2048/]],
    ['100 lines', [LOCAL, ...many(99)], {}, null],
    ['more', [LOCAL, ...many(100)], {}, [400, 'bad_request', /^the request has too many headers$/]],
    ['h2c', [LOCAL, 'Upgrade: H2C'], {}, null],
    [
      'a WebSocket',
      [LOCAL, 'Upgrade: websocket'],
      {},
      [400, 'bad_request', /nothing to upgrade to/],
    ],
    ['a body that waits', [LOCAL, 'Expect: 100-Continue'], {}, null],
    [
      'another wish',
      [LOCAL, 'Expect: 200'],
      {},
      [400, 'bad_request', /only 100-continue is known/],
    ],
  ] as const)('%s', (_what, lines, o, expected) => {
    const answer = checkRequest(requestOf([...lines], o), options)
    if (expected === null) {
      expect(answer).toBeNull()
      return
    }
    const [status, code, message] = expected
    expect(answer).toMatchObject({ status, code })
    const envelope = JSON.parse(answer?.body.toString() ?? '') as { error: { message: string } }
    expect(envelope.error.message).toMatch(message)
  })
})

/** A request that has a route. */
function routed(lines: string[], method = 'POST', config: object = {}): FastifyRequest {
  return { method, raw: requestOf(lines), routeOptions: { config } } as unknown as FastifyRequest
}

describe('once it has a route', () => {
  test.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
    '%s is known',
    (method) => {
      expect(checkRouted(routed([], method), options)).toBeNull()
    },
  )

  test.each(['TRACE', 'CONNECT', '', 'get'])('%j is nowhere', (method) => {
    const refusal = checkRouted(routed([], method), options)
    expect(refusal).toMatchObject({ code: 'not_found', message: 'no such path' })
  })

  test('its token is asked for, but of an anonymous route', () => {
    const refusal = new Refusal('unauthorized')
    const refusing = (error: Error) => ({
      ...options,
      authorize: () => {
        throw error
      },
    })
    expect(checkRouted(routed([]), refusing(refusal))).toBe(refusal)
    expect(checkRouted(routed([], 'GET', { anonymous: true }), refusing(refusal))).toBeNull()
    expect(() => checkRouted(routed([]), refusing(new Error('ours')))).toThrow('ours')
  })
})

describe('a body, by its head', () => {
  const JSON_TYPE = 'Content-Type: application/json'
  const type = [415, 'Content-Type: must be application/json']
  test.each([
    ['none', [], {}, null],
    ['an empty one without a type', ['Content-Length: 0'], {}, null],
    ['one without a type', ['Content-Length: 1'], {}, type],
    ['chunks without a type', ['Transfer-Encoding: chunked'], {}, type],
    ['of JSON', [JSON_TYPE, 'Content-Length: 1'], {}, null],
    ['of JSON in UTF-8', ['Content-Type: application/JSON ;charset=UTF-8'], {}, null],
    ['of JSON in quotes', ['Content-Type: application/json;\t charset="utf-8"'], {}, null],
    ['of JSON and more', ['Content-Type: application/json; charset=utf-8; a=b'], {}, type],
    ['of something before', ['Content-Type: x application/json'], {}, type],
    ['of two types', [JSON_TYPE, JSON_TYPE], {}, type],
    [
      'encoded',
      [JSON_TYPE, 'Content-Encoding: gzip'],
      {},
      [415, 'Content-Encoding: only identity'],
    ],
    [
      'encoded twice',
      ['Content-Encoding: identity', 'Content-Encoding: br'],
      {},
      [415, 'Content-E'],
    ],
    ['not encoded', [JSON_TYPE, 'Content-Encoding: Identity'], {}, null],
    ['of 256 KiB', [JSON_TYPE, 'Content-Length: 262144'], {}, null],
    [
      'a larger one',
      [JSON_TYPE, 'Content-Length: 262145'],
      {},
      [413, 'the body is over 262144 bytes'],
    ],
    [
      'a larger one of a GET',
      ['Content-Length: 262145'],
      { method: 'GET' },
      [413, 'the body is over'],
    ],
    ['one that is ignored', ['Content-Type: x', 'Content-Length: 5'], { takesBody: false }, null],
    ['one of a GET', ['Content-Type: x', 'Content-Encoding: br'], { method: 'GET' }, null],
    ['one of a HEAD', ['Content-Type: x', 'Content-Length: 5'], { method: 'HEAD' }, null],
  ] as const)('%s', (_what, lines, o, expected) => {
    const { method = 'POST', ...config } = o as { method?: string }
    const request = routed([...lines], method, config)
    const refusal = bodyProblem(request, DOOR_BOUNDS.bodyBytes)
    const isIgnored = method !== 'POST' || 'takesBody' in o
    if (isIgnored) expect(request.raw.headers['content-type']).toBeUndefined()
    if (expected === null) {
      expect(refusal).toBeNull()
      return
    }
    const [status, message] = expected as [number, string]
    expect(refusal).toMatchObject({ status, message: expect.stringContaining(message) as unknown })
  })

  test('may be long where it is over the limit, or of unknown length', () => {
    const long = (...lines: string[]) => mayBeLong(requestOf(lines), 100)
    const found = [[], ['Content-Length: 100'], ['Content-Length: 101'], ['Transfer-Encoding: x']]
    expect(found.map((lines) => long(...lines))).toEqual([false, false, true, true])
  })
})

describe('a token', () => {
  const presents = (token: string, expected: string | null, ...more: string[]): string | null => {
    try {
      requireBearer(['Authorization', `Bearer ${token}`, ...more], expected)
      return null
    } catch (error) {
      return (error as Refusal).message
    }
  }
  const wrong = 'the token is missing or wrong'
  const lengths = [1, 43, 128, 129, 255, 256, 257, 1000]

  test.each(lengths)('of %i characters is the expected one, or is not', (length) => {
    const token = 'x'.repeat(length)
    for (const expected of lengths.map((other) => 'x'.repeat(other))) {
      expect(presents(token, expected)).toBe(token === expected ? null : wrong)
    }
    expect(presents(token, `${token.slice(1)}y`)).toBe(wrong)
    expect(presents(`${token.slice(1)}y`, token)).toBe(wrong)
    expect(presents(token, 'é'.repeat(length))).toBe(wrong)
    expect(presents(token, `${token}\0`)).toBe(wrong)
  })

  test('is wrong where none is valid, and a bad request where there are two', () => {
    expect([presents('x', null), presents('', '')]).toEqual([wrong, wrong])
    const twice = presents('x', 'x', 'Authorization', 'Bearer x')
    expect(twice).toBe('Authorization: given twice')
    expect(() => requireBearer([], 'x')).toThrow(wrong)
  })
})
