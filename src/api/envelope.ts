import { z } from 'zod'
import { int, isObject } from './common.ts'
import { isOurCode } from './judged-names.ts'

/** Every error code of the service with its HTTP status (spec, Errors). */
export const ERROR_STATUS = {
  bad_request: 400,
  wrong_body_kind: 400,
  bad_markup: 400,
  bad_webhook: 400,
  chat_is_open: 400,
  unauthorized: 401,
  bot_paused: 403,
  forbidden: 403,
  blocked_by_user: 403,
  user_gone: 403,
  not_found: 404,
  chat_not_found: 404,
  message_not_found: 404,
  member_not_found: 404,
  user_not_found: 404,
  username_not_found: 404,
  no_user_key: 404,
  callback_not_found: 404,
  media_not_found: 404,
  conflict: 409,
  webhook_active: 409,
  callback_answered: 409,
  callback_expired: 410,
  too_large: 413,
  rate_limited: 429,
  flood_wait: 429,
  slow_mode: 429,
  internal: 500,
} as const satisfies Record<string, number>

export type ErrorCode = keyof typeof ERROR_STATUS

/** Which of the two kinds of body a chat takes. */
export const BodyKind = z.enum(['text', 'armored'])
export type BodyKind = z.infer<typeof BodyKind>

/**
 * The error object. `code` is open: unknown codes are read by their status (spec, Versioning).
 * `retryAfter` is in seconds, on 429 only; `expected` comes with `wrong_body_kind` and with the
 * `bad_request` of a send that has no body.
 */
export const ApiError = z.looseObject({
  status: int,
  code: z.string().min(1),
  message: z.string(),
  retryAfter: z.number().optional().catch(undefined),
  expected: BodyKind.optional().catch(undefined),
})
export type ApiError = z.infer<typeof ApiError>

/** What every answer of the service is: a result, or an error with the HTTP line's status. */
export type Envelope = { ok: true; result: unknown } | { ok: false; error: ApiError }

const Failure = z.looseObject({ ok: z.literal(false), error: ApiError })

/**
 * Reads an answer's parsed JSON against its HTTP status (spec, What the service does, 2).
 * Takes any JSON value. Gives the envelope, or null when it is not one: no `result`, an error
 * under a 2xx line, a success under any other, a status that HTTP does not have, two that differ, or
 * a code that only we give.
 */
export function readEnvelope(json: unknown, httpStatus: number): Envelope | null {
  if (!isObject(json)) return null
  const success = httpStatus >= 200 && httpStatus < 300
  if (json['ok'] === true) {
    return success && json['result'] !== undefined ? { ok: true, result: json['result'] } : null
  }
  const failure = Failure.safeParse(json)
  const refusal = httpStatus >= 300 && httpStatus < 600
  if (!failure.success || !refusal || failure.data.error.status !== httpStatus) return null
  if (isOurCode(failure.data.error.code)) return null
  return { ok: false, error: failure.data.error }
}
