import { ERROR_STATUS, type BodyKind, type ErrorCode } from '../api/error.ts'
import { PosternError } from '../errors.ts'

/** What stands in the error object beside status, code and message. */
export interface ApiErrorDetails {
  expected?: BodyKind
  /** Body, in seconds. */
  retryAfter?: number
  /** `Retry-After` header, in seconds; differs from the body for `rate_limited`. */
  headerSeconds?: number
}

/** The service's own no (spec, Errors): thrown by rules, answered as the error envelope. */
export class ApiError extends PosternError {
  readonly code: ErrorCode
  readonly status: number
  readonly extra: ApiErrorDetails

  constructor(code: ErrorCode, message: string, extra: ApiErrorDetails = {}) {
    super(message)
    this.code = code
    this.status = ERROR_STATUS[code]
    this.extra = extra
  }
}

/** Makes a `ApiError`, to be thrown. `message` names the field or the thing, never words. */
export function apiError(code: ErrorCode, message: string, extra: ApiErrorDetails = {}): ApiError {
  return new ApiError(code, message, extra)
}

/** The error envelope and its headers for a no. */
export function errorEnvelope(failure: ApiError): {
  status: number
  headers: Record<string, string>
  body: { ok: false; error: Record<string, unknown> }
} {
  const { code, status, message } = failure
  const { expected, retryAfter, headerSeconds } = failure.extra
  const seconds = headerSeconds ?? retryAfter
  return {
    status,
    headers: seconds === undefined ? {} : { 'retry-after': String(seconds) },
    body: {
      ok: false,
      error: {
        status,
        code,
        message,
        ...(retryAfter === undefined ? {} : { retryAfter }),
        ...(expected === undefined ? {} : { expected }),
      },
    },
  }
}
