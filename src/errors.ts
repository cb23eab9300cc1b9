/**
 * Every error that Postern makes, in four families that are never confused:
 * we decided not to (`Refusal`), nobody usable answered (`NoResponseError`), the service refused
 * (`ServiceError`), and the operator must act before anything can run (`OperatorError`).
 */
import { OPERATOR_REFUSALS, type ExitCode } from './operator-refusals.ts'
import { oneLine } from './util/printable.ts'

/**
 * The only source of Postern's own codes: HTTP status, what happened, and what to do about it.
 * The table in src/http/README.md is made from it.
 */
export const REFUSALS = {
  postern_downgrade_refused: {
    status: 409,
    what: 'readable text is not sent to a chat that must be encrypted',
    hint: 'if the chat really became readable, run `postern chat allow-readable <chatId>`; if `postern chat list` shows a group as private, `postern chat correct-kind <chatId> --to group`',
  },
  postern_clear_refused: {
    status: 409,
    what: 'buttons and callback answers are never encrypted, and are refused in encrypted chats',
    hint: 'leave out the fields named, or set `clearFields` to `warn`',
  },
  postern_no_recipient: {
    status: 409,
    what: 'nobody in the chat has a key to seal to',
    hint: 'the person must open the chat with an app that publishes a key',
  },
  postern_recipient_unusable: {
    status: 409,
    what: 'no certificate in the chat’s key list can be used',
    hint: 'the people named must publish a new key; `postern chat show <chatId>` says what is wrong with each',
  },
  postern_recipients_inconsistent: {
    status: 409,
    what: 'the chat’s key list says what no honest service can',
    hint: 'nothing was sent; an honest list has one key for each person, fewer keys than members, never the bot, and in a private chat its person alone: `postern chat list` shows whose it is, `postern chat bind` corrects that, and `postern chat correct-kind` the kind of a group that is taken for private',
  },
  postern_trust_required: {
    status: 409,
    what: 'nothing is sealed to a recipient whose key changed, is another person’s, or was blocked',
    hint: 'compare fingerprints with the person, then run `postern trust accept <userId>`',
  },
  postern_seal_too_large: {
    status: 413,
    what: 'the sealed message is larger than the service accepts',
    hint: 'shorten the text, or write to a smaller group: every recipient adds to the size',
  },
  postern_not_recipient: {
    status: 422,
    what: 'the file is sealed, but not for this bot',
    hint: 'in a group, phones seal files to the bot only while its privacy mode is off',
  },
  postern_damaged: {
    status: 422,
    what: 'the sealed data cannot be opened',
    hint: 'ask the sender to send it again',
  },
  postern_replayed: {
    status: 422,
    what: 'this sealed data was seen before as something else',
    hint: 'treat it as forged',
  },
  postern_bad_signature: {
    status: 422,
    what: 'the signature is not the sender’s',
    hint: 'treat it as forged',
  },
  postern_plaintext_in_protected: {
    status: 422,
    what: 'the file is from an encrypted chat and is not sealed',
    hint: 'treat it as forged: phones seal every file there; `open.verify: off` delivers it',
  },
  postern_key_managed: {
    status: 403,
    what: 'the bot’s key is managed by Postern',
    hint: 'run `postern key` on the machine that runs Postern',
  },
  postern_key_conflict: {
    status: 503,
    what: 'the service lists a key for this bot that is not ours',
    hint: 'find out who published it, or restore a later backup that has it; `postern key publish --replace` replaces it by ours',
  },
  postern_key_unpublished: {
    status: 503,
    what: 'the bot’s key is not confirmed by the service yet',
    hint: 'try again when /readyz is 200; its reasons name what is missing',
  },
  postern_key_expired: {
    status: 503,
    what: 'the bot’s key has expired',
    hint: 'run `postern key rotate` for a key that does not expire; the old one still opens messages',
  },
  postern_bot_unprotected: {
    status: 503,
    what: 'the service says that this bot has no key any more',
    hint: 'publish again with `postern key publish`, or leave encrypted chats for good with `postern chat allow-readable --private`',
  },
  postern_locked: {
    status: 503,
    what: 'the secret keys are locked',
    hint: 'set `key.passphrase` and start again',
  },
  postern_bot_down: {
    status: 503,
    what: 'this bot is not served at the moment, though others are',
    hint: '`postern bot list` says why; it is tried again and again',
  },
  postern_clock_wrong: {
    status: 503,
    retryAfter: 2,
    what: 'this machine’s clock is set to before the bot’s key was made',
    hint: 'set this machine’s clock (NTP)',
  },
  postern_store_unwritable: {
    status: 503,
    retryAfter: 2,
    what: 'the store cannot be written, so whatever must be recorded first is refused',
    hint: 'free space on the disk of `dataDir`, or make it writable; with `store.url`, bring the database back',
  },
  postern_upstream_unreachable: {
    status: 502,
    what: 'the service could not be reached',
    hint: 'check `upstream.url` and the network; `postern check` tries each step',
  },
  postern_upstream_timeout: {
    status: 504,
    what: 'the service did not answer in time',
    hint: 'try again; a send is safe to repeat with the same sendId',
  },
  postern_upstream_invalid: {
    status: 502,
    what: 'the answer from `upstream.url` is not one of the service’s API',
    hint: 'check that `upstream.url` is the service’s base URL and that no proxy answers in its place',
  },
  postern_route_refused: {
    status: 403,
    what: 'this call is not passed to the service',
    hint: 'this version does not know it, and its body might hold readable text; `routes.allowUnknown` passes it',
  },
  postern_media_too_large: {
    status: 413,
    what: 'the file is larger than Postern opens',
    hint: 'ask for a file of at most 64 MiB',
  },
  postern_busy: {
    status: 503,
    what: 'too many calls are in progress',
    hint: 'try again after the seconds in Retry-After',
  },
  postern_browser_refused: {
    status: 403,
    what: 'the request comes from a web page',
    hint: 'call from the bot itself, without Origin and Sec-Fetch headers',
  },
  postern_host_refused: {
    status: 421,
    what: 'the Host header names an unknown host',
    hint: 'call the address that Postern listens on, or add this name to `listen.allowedHosts` (for /metrics and /status: `admin.allowedHosts`)',
  },
} as const satisfies Record<
  string,
  { status: number; what: string; hint: string; retryAfter?: number }
>

/** A code of Postern's own, in the service's envelope. */
export type OwnCode = keyof typeof REFUSALS

/** Codes of the service's that the sidecar also gives by itself, with their status. */
const BORROWED = {
  bad_request: 400,
  wrong_body_kind: 400,
  bad_webhook: 400,
  chat_is_open: 400,
  unauthorized: 401,
  blocked_by_user: 403,
  user_gone: 403,
  not_found: 404,
  chat_not_found: 404,
  message_not_found: 404,
  member_not_found: 404,
  user_not_found: 404,
  media_not_found: 404,
  too_large: 413,
  webhook_active: 409,
  internal: 500,
} as const

/** A code of the service's that the sidecar may give in its place. */
export type BorrowedCode = keyof typeof BORROWED

/** Fields beside status, code and message in the error object (spec, Error object). */
export interface ErrorExtra {
  expected?: 'text' | 'armored'
  retryAfter?: number
}

/** Base of everything below. `code` is stable; `message` is for people and holds no one's words. */
export abstract class PosternError extends Error {
  abstract readonly code: string

  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = new.target.name
  }
}

/**
 * We decided not to. Becomes the service's error envelope.
 * @param code one of `REFUSALS`, or a code of the service's that holds here
 * @param detail what exactly, in addition to the table's sentence; never words of a person
 */
export class Refusal extends PosternError {
  readonly code: OwnCode | BorrowedCode
  readonly status: number
  readonly hint: string | undefined
  /** What exactly, in addition to the table's sentence; may be empty. */
  readonly detail: string
  readonly extra: ErrorExtra

  constructor(
    code: OwnCode | BorrowedCode,
    detail = '',
    options: { extra?: ErrorExtra; cause?: unknown; status?: number } = {},
  ) {
    super(sentence(code, detail), options.cause === undefined ? {} : { cause: options.cause })
    this.code = code
    this.status = options.status ?? statusOf(code)
    this.hint = isOwn(code) ? REFUSALS[code].hint : undefined
    this.detail = detail
    this.extra = options.extra ?? retryOf(code)
  }
}

/** Nobody usable answered: unreachable, too late, or not in the service's language. */
export class NoResponseError extends Refusal {}

/** No more chats can be remembered: nothing failed, and trying again does not help. */
export class TooManyChatsError extends Refusal {}

/** No thread can do a job: none starts, memory has run out, or the engine is closed. */
export class EngineUnavailableError extends Refusal {
  /** @param detail what is missing */
  constructor(detail: string, options: { cause?: unknown } = {}) {
    super('postern_busy', detail, { ...options, extra: { retryAfter: ENGINE_RETRY_SECONDS } })
  }
}

const ENGINE_RETRY_SECONDS = 2

/**
 * Whether an error is a failure of Postern's own, of its store, clock, threads or memory: it says
 * nothing of the message or file that it happened to.
 */
export function isOwnFailure(error: unknown): boolean {
  // a store that is damaged is read in the midst of things too
  if (error instanceof EngineUnavailableError || error instanceof OperatorError) return true
  if (!(error instanceof Refusal) || error instanceof TooManyChatsError) return false
  return error.code === 'postern_store_unwritable' || error.code === 'postern_clock_wrong'
}

/** Whether memory outside of the heap could not be had (V8, Node). */
export function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && /allocation failed|out of memory/i.test(error.message)
}

/** An answer of the service kept as it came, so that it can be handed on byte for byte. */
export interface RawAnswer {
  status: number
  /** Header names in lower case; only those that may be handed on. */
  headers: Record<string, string>
  body: Buffer
}

/**
 * The service refused, in its own envelope (spec, Errors).
 * `retryAfterSeconds` follows the spec's rule about header and body; undefined when not a 429.
 */
export class ServiceError extends PosternError {
  readonly code: string
  readonly status: number
  readonly expected: 'text' | 'armored' | undefined
  readonly retryAfterSeconds: number | undefined
  readonly answer: RawAnswer

  constructor(error: {
    code: string
    status: number
    expected?: 'text' | 'armored' | undefined
    retryAfterSeconds?: number | undefined
    answer: RawAnswer
  }) {
    super(`the service said ${oneLine(error.code)}`)
    this.code = error.code
    this.status = error.status
    this.expected = error.expected
    this.retryAfterSeconds = error.retryAfterSeconds
    this.answer = error.answer
  }
}

/** Why a command cannot go on, for the person at the terminal. */
export type OperatorCode = keyof typeof OPERATOR_REFUSALS

/** The operator must act. The message is what exactly happened; `hint` is what to do about it. */
export class OperatorError extends PosternError {
  readonly code: OperatorCode
  readonly hint: string
  readonly #exitCode: ExitCode

  /** @param options `exitCode`: another than that of the code */
  constructor(
    code: OperatorCode,
    message: string,
    hint = '',
    options?: { cause?: unknown; exitCode?: ExitCode | undefined },
  ) {
    super(message, options)
    this.code = code
    this.#exitCode = options?.exitCode ?? OPERATOR_REFUSALS[code].exitCode
    this.hint = hint || OPERATOR_REFUSALS[code].hint
  }

  get exitCode(): ExitCode {
    return this.#exitCode
  }
}

/** True when `code` is one that a command ends with. */
export function isOperatorCode(code: string): code is OperatorCode {
  return Object.hasOwn(OPERATOR_REFUSALS, code)
}

/** True when `code` is one of the service's that the sidecar also gives by itself. */
export function isBorrowed(code: string): code is BorrowedCode {
  return Object.hasOwn(BORROWED, code)
}

/** True when `code` is one of Postern's own. */
export function isOwn(code: string): code is OwnCode {
  return Object.hasOwn(REFUSALS, code)
}

function statusOf(code: OwnCode | BorrowedCode): number {
  return isOwn(code) ? REFUSALS[code].status : BORROWED[code]
}

function retryOf(code: OwnCode | BorrowedCode): ErrorExtra {
  const known = isOwn(code) ? REFUSALS[code] : null
  return known !== null && 'retryAfter' in known ? { retryAfter: known.retryAfter } : {}
}

function sentence(code: OwnCode | BorrowedCode, detail: string): string {
  if (!isOwn(code)) return detail || code
  return detail ? `${REFUSALS[code].what}: ${detail}` : REFUSALS[code].what
}
