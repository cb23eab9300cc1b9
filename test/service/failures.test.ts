import { expect, test } from 'vitest'
import { NoResponseError } from '../../src/errors.ts'
import { failureOf, unusableByHead } from '../../src/service/errors.ts'

const coded = (code: unknown, more: object = {}): Error =>
  Object.assign(new Error('words of an answer'), { code, ...more })

test.each([
  ['UND_ERR_HEADERS_TIMEOUT', 'late', 'late', 'postern_upstream_timeout'],
  ['UND_ERR_BODY_TIMEOUT', 'late', 'late', 'postern_upstream_timeout'],
  ['UND_ERR_HEADERS_OVERFLOW', 'unusable', 'unusable', 'postern_upstream_invalid'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'unusable', 'unusable', 'postern_upstream_invalid'],
  ['CERT_HAS_EXPIRED', 'untrusted', 'untrusted', 'postern_upstream_unreachable'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'untrusted', 'untrusted', 'postern_upstream_unreachable'],
  ['EPROTO', 'untrusted', 'untrusted', 'postern_upstream_unreachable'],
  ['ECONNREFUSED', 'unreached', 'cut', 'postern_upstream_unreachable'],
  ['X_CERT_', 'unreached', 'cut', 'postern_upstream_unreachable'],
  ['X_UND_ERR_HEADERS_OVERFLOW', 'unreached', 'cut', 'postern_upstream_unreachable'],
])('the error %s is %s before the answer and %s within the answer', (code, before, within, as) => {
  for (const [stage, kind] of [
    ['before', before],
    ['within', within],
  ] as const) {
    const failure = failureOf(coded(code), stage)
    expect(failure).toEqual({ kind, error: expect.any(NoResponseError) as unknown, status: null })
    expect([failure.error.code, failure.error.message.includes(code)]).toEqual([as, true])
    expect(failure.error.message).not.toContain('words')
  }
})

test('a parse error of HTTP is an unusable answer', () => {
  const failure = failureOf(
    Object.assign(new Error('bytes'), { name: 'HTTPParserError' }),
    'before',
  )
  expect(failure.kind).toBe('unusable')
  expect(failure.error.message).toContain('no HTTP')
})

test('`failureOf` reads an error code from the error or its first three causes only', () => {
  const nested = (depth: number): unknown =>
    depth === 0 ? coded('EPROTO') : new Error('outer', { cause: nested(depth - 1) })
  const kinds = [0, 1, 2, 3, 4].map((depth) => failureOf(nested(depth), 'before').kind)
  expect(kinds).toEqual(['untrusted', 'untrusted', 'untrusted', 'untrusted', 'unreached'])
  for (const code of ['eproto', 5, 'E', 'EPROTO words', 'words EPROTO', 'E'.repeat(62), '']) {
    expect(failureOf(coded(code), 'before').error.message).toContain('no code')
  }
  for (const code of ['E2', 'E_', 'E'.repeat(61)]) {
    expect(failureOf(coded(code), 'before').error.message).toContain(code)
  }
  expect(failureOf({ code: 'EPROTO' }, 'before').kind).toBe('unreached')
})

test.each([
  [200, undefined, null],
  [200, 'identity', null],
  [200, 'Identity', null],
  [299, undefined, null],
  [400, undefined, null],
  [300, undefined, 'a redirect'],
  [302, undefined, 'a redirect'],
  [399, undefined, 'a redirect'],
  [200, 'gzip', 'an encoding'],
  [200, 'identity, gzip', 'an encoding'],
  [200, 'xidentity', 'an encoding'],
])(
  'the answer %i with the content encoding %s is unusable for the reason %s',
  (status, encoding, why) => {
    const failure = unusableByHead(status, { 'content-encoding': encoding })
    if (why === null) return expect(failure).toBeNull()
    expect(failure).toMatchObject({ kind: 'unusable', status })
    expect(failure?.error.message).toContain(why)
  },
)
