import assert from 'node:assert/strict'
import { ERROR_STATUS, type ErrorCode } from '../../../src/api/error-codes.ts'
import type { Answer, Call, Inspect } from '../client.ts'
import { fields } from '../expect.ts'

/**
 * What the specification says of every answer, whatever was asked: JSON in one of two shapes, the
 * status twice the same, known codes under their own status, `Retry-After` on every 429.
 */
export function checkLaw(call: Call, answer: Answer): void {
  if (call.outside === true && answer.status === 200) return
  assert.match(answer.header('content-type') ?? '', /^application\/json\b/, 'the answer is JSON')
  const envelope = fields(answer.json)
  const isSuccess = answer.status >= 200 && answer.status < 300
  assert.equal(envelope['ok'], isSuccess)
  if (isSuccess) return assert.ok('result' in envelope, 'a success has a result')
  const error = fields(envelope['error'])
  assert.equal(error['status'], answer.status, 'the status of the line is the one of the error')
  assert.ok(typeof error['code'] === 'string' && error['code'] !== '', 'an error has a code')
  assert.ok(typeof error['message'] === 'string', 'an error has a message')
  const known: Record<string, number> = ERROR_STATUS
  const status = known[error['code']]
  const isMediaType = error['code'] === 'bad_request' && answer.status === 415
  if (status !== undefined && !isMediaType) assert.equal(answer.status, status)
  if (answer.status === 429) assert.match(answer.header('retry-after') ?? '', /^\d+$/)
  if ('retryAfter' in error) assert.ok(Number.isSafeInteger(error['retryAfter']))
  if ('expected' in error) assert.ok(['text', 'armored'].includes(String(error['expected'])))
}

/** Holds every answer to it. */
export const lawful: Inspect = async (call, make) => {
  const answer = await make()
  checkLaw(call, answer)
  return answer
}

/** Names that the sandbox gives in an error beside status, code and message. */
const EXTRA: Partial<Record<ErrorCode, string[]>> = {
  wrong_body_kind: ['expected'],
  rate_limited: ['retryAfter'],
  flood_wait: ['retryAfter'],
  slow_mode: ['retryAfter'],
}

/** Holds every answer of the sandbox to it, and each error to exactly the fields that it has. */
export const exact: Inspect = async (call, make) => {
  const answer = await lawful(call, make)
  if (call.outside === true && answer.status === 200) return answer
  assert.equal(answer.header('content-type'), 'application/json; charset=utf-8')
  assert.equal(answer.header('retry-after') !== undefined, answer.status === 429)
  const { error } = fields(answer.json)
  if (error === undefined) return answer
  const { code, message } = fields(error)
  assert.notEqual(message, '')
  const names = Object.keys(fields(error))
  // A send or an edit without its words says which kind was expected.
  const mayExpect = code === 'bad_request' && call.path.startsWith('/messages')
  const known = mayExpect ? names.filter((name) => name !== 'expected') : names
  const more = EXTRA[code as ErrorCode] ?? []
  assert.deepEqual(known.sort(), ['code', 'message', 'status', ...more].sort())
  return answer
}
