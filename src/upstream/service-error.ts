import type { ApiError } from '../api/error.ts'
import { ServiceError, type RawAnswer } from '../errors.ts'
import { retryAfterSeconds } from './retry-after.ts'

/** The service's no as an error that keeps the answer as it came. */
export function serviceErrorOf(answer: RawAnswer, error: ApiError): ServiceError {
  const { status, headers } = answer
  const { code, expected, retryAfter: body } = error
  const header = headers['retry-after']
  const wait = status === 429 ? retryAfterSeconds({ code, header, body }) : undefined
  return new ServiceError({ code, status, expected, retryAfterSeconds: wait, answer })
}
