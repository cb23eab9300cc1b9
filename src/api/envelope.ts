import { z } from 'zod'
import { int, isObject } from './common.ts'
import { isOurCode } from './judged-names.ts'

/** The two kinds of a message's body, of which a chat accepts one. */
export const BodyKind = z.enum(['text', 'armored'])
export type BodyKind = z.infer<typeof BodyKind>

/**
 * The error object. `code` is open: unknown codes are read by their status (spec, Versioning).
 * `retryAfter` is in seconds, on 429 only; `expected` is present with `wrong_body_kind` and with
 * the `bad_request` of a send that has no body.
 */
export const ApiError = z.looseObject({
  status: int,
  code: z.string().min(1),
  message: z.string(),
  retryAfter: z.number().optional().catch(undefined),
  expected: BodyKind.optional().catch(undefined),
})
export type ApiError = z.infer<typeof ApiError>

/** The envelope of every answer: a result, or an error with the HTTP line's status. */
export type Envelope = { ok: true; result: unknown } | { ok: false; error: ApiError }

const Failure = z.looseObject({ ok: z.literal(false), error: ApiError })

/**
 * Reads an answer's parsed JSON against its HTTP status (spec, What the service does, 2).
 * Gives the envelope, or null for any value that is not one: no `result`, an error
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

/**
 * A call of the bot with its answer, or a delivery to its webhook, and before that its start. For
 * development alone.
 */
export interface BotExchange {
  kind: 'call' | 'deliveryStart' | 'delivery'
  method: string
  /** With the query, without the capability of a file; empty for a delivery. */
  path: string
  /** JSON; empty when there was no body. */
  request: string
  /** 0 when the bot hung up before the answer, or accepted no delivery. */
  status: number
  /** The envelope; empty for a file. */
  answer: string
  /** The name of the client that called; absent for the bot. */
  caller?: string | undefined
  /** Of a call: names and values in turn, without secrets. */
  headers?: readonly string[]
  answerHeaders?: readonly string[]
  /** From the request to the end of the answer, in ms. */
  ms?: number
}
