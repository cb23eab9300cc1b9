import { OperatorError, Refusal, ServiceError, type ErrorExtra, type RawAnswer } from '../errors.ts'
import { stringify } from '../util/exact-json.ts'

/** Header of every refusal of our own: the request's id in the log. */
export const REQUEST_ID = 'postern-request-id'

/** The answer to a failed call, with its code in log and metrics. */
export interface FailureAnswer extends RawAnswer {
  code: string
}

/** Fastify's own errors for requests that have passed our checks. */
const FROM_FASTIFY = new Map<unknown, () => Refusal>([
  ['FST_ERR_CTP_BODY_TOO_LARGE', () => new Refusal('too_large', 'the body is too large')],
  [
    'FST_ERR_CTP_INVALID_CONTENT_LENGTH',
    () => new Refusal('bad_request', 'Content-Length: is not the length of the body'),
  ],
])

/**
 * The one place where anything thrown becomes an answer in the service's envelope. The service's
 * refusals are relayed unchanged; the answer to an unexpected error contains no detail.
 */
export function answerFor(error: unknown): FailureAnswer {
  if (error instanceof ServiceError) return { ...error.answer, code: error.code }
  if (error instanceof Refusal) return failure(error)
  // a store that is damaged while it is open
  if (error instanceof OperatorError && error.code === 'store-corrupt') {
    return failure(new Refusal('postern_store_unwritable', 'it is damaged'))
  }
  return failure(fromFastify(error) ?? new Refusal('internal', 'the sidecar failed'))
}

/**
 * Builds an answer in the error envelope (spec, Error object), with `Retry-After` where the body
 * has `retryAfter` (spec, Errors 1).
 */
export function failureAnswer(failed: {
  status: number
  code: string
  message: string
  extra?: ErrorExtra
}): FailureAnswer {
  const { status, code, message, extra = {} } = failed
  const headers: Record<string, string> = { 'content-type': 'application/json; charset=utf-8' }
  if (extra.retryAfter !== undefined) headers['retry-after'] = String(Math.ceil(extra.retryAfter))
  const envelope = { ok: false, error: { status, code, message, ...extra } }
  return { status, headers, body: Buffer.from(stringify(envelope)), code }
}

/**
 * The fields of an unexpected error that may be logged: its name and stack frames. Its message is
 * left out, because it can contain a person's text.
 */
export function traceOf(error: unknown): { error: string; at: string[] } {
  if (!(error instanceof Error)) return { error: typeof error, at: [] }
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  return { error: error.name, at: frames.slice(0, 8).map((frame) => frame.trim()) }
}

/** True for an unexpected error, which is a bug to investigate. */
export function isUnforeseen(error: unknown): boolean {
  const decided = error instanceof Refusal || error instanceof ServiceError
  return !decided && fromFastify(error) === undefined
}

const fromFastify = (error: unknown): Refusal | undefined =>
  error instanceof Error && 'code' in error ? FROM_FASTIFY.get(error.code)?.() : undefined

function failure(refusal: Refusal): FailureAnswer {
  const { status, code, extra, hint } = refusal
  const message = hint === undefined ? refusal.message : `${refusal.message}; ${hint}`
  return failureAnswer({ status, code, message, extra })
}
