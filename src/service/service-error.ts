import type { ApiError } from '../api/envelope.ts'
import { ServiceError, type RawAnswer } from '../errors.ts'

const MIN_SECONDS = 1
const MAX_SECONDS = 3600
/** When neither header nor body can be believed. */
const UNKNOWN_SECONDS = 5

/** A refusal of the service as an error that keeps the unchanged answer. */
export function serviceErrorOf(answer: RawAnswer, error: ApiError): ServiceError {
  const { status, headers } = answer
  const { code, expected, retryAfter: body } = error
  const header = headers['retry-after']
  const wait = status === 429 ? retryAfterSeconds({ code, header, body }) : undefined
  return new ServiceError({ code, status, expected, retryAfterSeconds: wait, answer })
}

/**
 * How long a 429 asks to wait, in whole seconds from 1 to 3600 (spec, Errors, rule 1).
 * For `rate_limited` the header wins, since its body is always 60. For every other code the
 * larger of header and body holds. A header that is missing, negative, a date or not a number
 * leaves the body's value; when that is no number either, 5.
 * @param given `code` the error's; `header` the value of Retry-After; `body` the `retryAfter` field
 */
export function retryAfterSeconds(given: {
  code: string
  header: string | undefined
  body: unknown
}): number {
  const header = /^\s*\d{1,15}\s*$/.test(given.header ?? '') ? Number(given.header) : null
  const body =
    typeof given.body === 'number' && Number.isFinite(given.body) && given.body >= 0
      ? given.body
      : null
  if (header === null && body === null) return UNKNOWN_SECONDS
  const seconds =
    given.code === 'rate_limited' ? (header ?? body) : Math.max(header ?? 0, body ?? 0)
  return Math.min(Math.max(Math.ceil(seconds ?? UNKNOWN_SECONDS), MIN_SECONDS), MAX_SECONDS)
}
