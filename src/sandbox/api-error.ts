import { ERROR_STATUS, type ErrorCode } from '../api/error-codes.ts'
import { type BodyKind } from '../api/envelope.ts'
import { PosternError } from '../errors.ts'

/** Fields of the error object beside status, code and message. */
export interface ApiErrorDetails {
  expected?: BodyKind
  /** Body, in seconds. */
  retryAfter?: number
  /** `Retry-After` header, in seconds; differs from the body for `rate_limited`. */
  headerSeconds?: number
}

/** An error of the API (spec, Errors). Rules throw it; the listener answers the error envelope. */
export class SandboxApiError extends PosternError {
  readonly code: ErrorCode
  readonly status: number
  readonly details: ApiErrorDetails

  constructor(code: ErrorCode, message: string, details: ApiErrorDetails = {}) {
    super(message)
    this.code = code
    this.status = ERROR_STATUS[code]
    this.details = details
  }
}

/** Makes an `SandboxApiError` to throw. `message` must not quote what a person wrote. */
export function apiError(
  code: ErrorCode,
  message: string,
  details: ApiErrorDetails = {},
): SandboxApiError {
  return new SandboxApiError(code, message, details)
}

/** The status, headers and body that answer an error. */
export function errorEnvelope(error: SandboxApiError): {
  status: number
  headers: Record<string, string>
  body: { ok: false; error: Record<string, unknown> }
} {
  const { code, status, message } = error
  const { expected, retryAfter, headerSeconds } = error.details
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
