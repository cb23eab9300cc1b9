import type { ApiError } from '../api/error.ts'
import { ServiceSaid, type RawAnswer } from '../errors.ts'
import { retryAfterSeconds } from './retry-after.ts'

/** The service's no as an error that keeps the answer as it came. */
export function saidNo(answer: RawAnswer, error: ApiError): ServiceSaid {
  const { status, headers } = answer
  const { code, expected, retryAfter: body } = error
  const header = headers['retry-after']
  const wait = status === 429 ? retryAfterSeconds({ code, header, body }) : undefined
  return new ServiceSaid({ code, status, expected, retryAfterSeconds: wait, answer })
}
