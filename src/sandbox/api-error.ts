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

/** Makes a `SandboxApiError` to throw. `message` must not quote what a person wrote. */
export const apiError = (...of: ConstructorParameters<typeof SandboxApiError>): SandboxApiError =>
  new SandboxApiError(...of)

/** An operation cannot be done: an unknown id, a handle in use, a person who may not write there. */
export class ControlError extends PosternError {
  readonly code = 'bad_control'
  readonly status = 400
  readonly details: ApiErrorDetails = {}
}

/** The status, headers and body, as JSON, that answer an error. */
export function errorEnvelope({ code, status, message, details }: SandboxApiError | ControlError) {
  const { expected, retryAfter, headerSeconds = retryAfter } = details
  const headers: Record<string, string> =
    headerSeconds === undefined ? {} : { 'retry-after': String(headerSeconds) }
  const body = { ok: false, error: { status, code, message, retryAfter, expected } }
  return { status, headers, body }
}
