import assert from 'node:assert/strict'
import { ERROR_STATUS } from '../../../src/api/error-codes.ts'
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
