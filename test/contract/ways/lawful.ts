import assert from 'node:assert/strict'
import { ENDPOINTS } from '../../../src/api/endpoints.ts'
import { ERROR_STATUS, type ErrorCode } from '../../../src/api/error-codes.ts'
import { DESCRIBED } from '../../../src/sandbox/openapi/bot-endpoints.ts'
import { SchemaCollector } from '../../../src/sandbox/openapi/schemas.ts'
import { undeclaredFields } from '../../sandbox/declared.ts'
import type { Answer, Call, Inspect } from '../client.ts'
import { fields } from '../expect.ts'

/**
 * The rules of the specification for every answer: JSON in one of two shapes, the
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
  if (status !== undefined) assert.equal(answer.status, status)
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

/** Holds every answer of the sandbox to it, and to exactly the fields that are described. */
export const exact: Inspect = async (call, make) => {
  const answer = await lawful(call, make)
  if (call.outside === true && answer.status === 200) return answer
  assert.equal(answer.header('content-type'), 'application/json; charset=utf-8')
  assert.equal(answer.header('retry-after') !== undefined, answer.status === 429)
  const { error, result } = fields(answer.json)
  if (error === undefined) checkResult(call, result, answer.status)
  else checkError(call, fields(error))
  return answer
}

/** A result is what the document of the bot API describes, and holds nothing beside. */
function checkResult({ method, path }: Call, result: unknown, status: number): void {
  const endpoint = ENDPOINTS.find((one) => one.method === method && patternOf(one).test(path))
  assert.ok(endpoint, `${method} ${path} is an endpoint`)
  const { created, result: described } = DESCRIBED[endpoint.name]
  const isAgain = created === true && status === 200
  if (!isAgain) assert.equal(status, created === true ? 201 : 200)
  assert.equal(described.safeParse(result).error, undefined, endpoint.name)
  const collector = new SchemaCollector()
  const schema = collector.of(described)
  const root = { components: { schemas: collector.components } }
  assert.deepEqual(undeclaredFields(schema, result, { root }), [], endpoint.name)
}

const patternOf = ({ path }: { path: string }): RegExp =>
  new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}(\\?|$)`)

function checkError(call: Call, error: Record<string, unknown>): void {
  const { code, message } = error
  assert.notEqual(message, '')
  // The refusal of a send or an edit without content has the expected kind.
  const mayExpect = code === 'bad_request' && call.path.startsWith('/messages')
  const names = Object.keys(error).filter((name) => !mayExpect || name !== 'expected')
  const more = EXTRA[code as ErrorCode] ?? []
  assert.deepEqual(names.sort(), ['code', 'message', 'status', ...more].sort())
}
