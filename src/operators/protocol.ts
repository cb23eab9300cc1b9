/**
 * The protocol of the control socket: HTTP, `POST /<operation>` with its input as JSON. The answer
 * is `{result}` or `{error}`, with the version of the sidecar in a header. Errors cross as code,
 * message and hint, and the client throws the same error.
 */
import { z } from 'zod'
import { isBorrowed, isOperatorCode, isOwn, OperatorError } from '../errors.ts'
import { PosternError, Refusal, ServiceError } from '../errors.ts'
import { REFUSALS } from '../refusals.ts'

/** 1 MiB of armored text fits, with its line breaks escaped. */
export const MAX_REQUEST_BYTES = 2 * 1024 * 1024
/** Enough for the list of a bot with many chats. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024
/** The longest message that `postern open` accepts. */
export const MAX_ARMORED_BYTES = 1024 * 1024

/** Which of several bots a request is about. */
export const BOT_HEADER = 'postern-bot'

/** The version of Postern that answered. */
export const VERSION_HEADER = 'postern-version'

const WireError = z.object({
  code: z.string(),
  message: z.string(),
  hint: z.string().optional(),
  /** Set for an error of the service's own. */
  status: z.int().optional(),
})
type WireError = z.infer<typeof WireError>

/** The body of an answer. */
export const AnswerBody = z.union([
  z.object({ error: WireError }),
  z.object({ result: z.unknown() }),
])

/** Makes an error fit for the wire. Anything but a PosternError crosses without its message. */
export function toWireError(error: unknown): WireError {
  if (error instanceof ServiceError) {
    return { code: error.code, message: error.message, status: error.status }
  }
  if (error instanceof PosternError) {
    const { code, message, hint } = error as PosternError & { hint?: string | undefined }
    return { code, message, hint }
  }
  const name = error instanceof Error ? error.name : typeof error
  const message = `internal failure (${name})`
  return { code: 'failed', message, hint: 'the log of the sidecar shows what led to it' }
}

/** Undoes `toWireError`, but for the cause and the raw answer, which are not transmitted. */
export function fromWireError({ code, message, hint, status }: WireError): PosternError {
  if (status !== undefined) {
    const answer = { status, headers: {}, body: Buffer.alloc(0) }
    return new ServiceError({ code, status, answer })
  }
  // One version made both: its message begins with the table's sentence.
  if (isOwn(code)) return new Refusal(code, message.slice(`${REFUSALS[code].what}: `.length))
  if (isBorrowed(code)) return new Refusal(code, message)
  return new OperatorError(isOperatorCode(code) ? code : 'failed', message, hint)
}
