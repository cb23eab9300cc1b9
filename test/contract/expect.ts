import assert from 'node:assert/strict'
import { ERROR_STATUS, type ErrorCode } from '../../src/api/error-codes.ts'
import type { Answer } from './client.ts'

/** A JSON object, as far as nobody knows more of it. */
export type Fields = Record<string, unknown>

/** The result of a success (spec, What the service does, 2). */
export function ok(answer: Answer, status = 200): unknown {
  const { ok: success, result } = fields(answer.json)
  assert.equal(success, true, `a success, not ${describe(answer)}`)
  assert.equal(answer.status, status)
  assert.notEqual(result, undefined)
  return result
}

/** The same, where the result is an object. */
export const okFields = (answer: Answer, status = 200): Fields => fields(ok(answer, status))

/** The same, where the result is a list of objects. */
export const okList = (answer: Answer, status = 200): Fields[] => list(ok(answer, status))

/**
 * The error object of a refusal with one of these codes.
 * @param o `status` where it is not the one of the errors table
 */
export function no(
  answer: Answer,
  code: ErrorCode | `postern_${string}` | readonly ErrorCode[],
  o: { status?: number } = {},
): Fields {
  const { ok: success, error: raw } = fields(answer.json)
  assert.equal(success, false, `a refusal with ${String(code)}, not ${describe(answer)}`)
  const error = fields(raw)
  const codes: readonly string[] = typeof code === 'string' ? [code] : code
  assert.ok(codes.includes(String(error['code'])), `${codes.join(' or ')}, not ${describe(answer)}`)
  assert.equal(error['status'], answer.status)
  const table: Record<string, number> = ERROR_STATUS
  const status = o.status ?? table[String(error['code'])]
  if (status !== undefined) assert.equal(answer.status, status)
  return error
}

/** A 429: its code, the header, and the body's seconds. */
export function wait(answer: Answer, code: ErrorCode): { header: number; body: unknown } {
  const error = no(answer, code)
  const header = answer.header('retry-after') ?? ''
  assert.match(header, /^\d+$/, 'Retry-After is a whole number of seconds')
  return { header: Number(header), body: error['retryAfter'] }
}

export function fields(value: unknown): Fields {
  assert.ok(
    typeof value === 'object' && value !== null && !Array.isArray(value),
    `an object, not ${JSON.stringify(value)}`,
  )
  return value as Fields
}

export function list(value: unknown): Fields[] {
  assert.ok(Array.isArray(value), `a list, not ${JSON.stringify(value)}`)
  return value.map(fields)
}

/** The value at a path of names in an object: `at(update, 'message.chat.id')`. */
export function at(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, name) => fields(inner)[name], value)
}

const TYPES: Record<string, (value: unknown) => boolean> = {
  int: (value) => Number.isSafeInteger(value),
  ts: (value) => Number.isSafeInteger(value) && Number(value) > 1_000_000_000_000,
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  array: Array.isArray,
}

/** Checks names and types; a `?` after a type allows null. Further fields are allowed. */
export function shape(value: unknown, names: Record<string, string>): Fields {
  const object = fields(value)
  for (const [name, type] of Object.entries(names)) {
    const found = object[name]
    const fits =
      (type.endsWith('?') && found === null) || TYPES[type.replace('?', '')]?.(found) === true
    assert.ok(fits, `${name} is ${type}, not ${JSON.stringify(found)}`)
  }
  return object
}

/** What an answer was, for a message: no words of anybody's. */
function describe(answer: Answer): string {
  const { json } = answer
  const error = typeof json === 'object' && json !== null ? (json as Fields)['error'] : undefined
  return error === undefined ? answer.statusLine : JSON.stringify(error)
}
