/**
 * Every error that Postern makes, in four families that are never confused:
 * we decided not to (`Refusal`), nobody usable answered (`NoResponseError`), the service refused
 * (`ServiceError`), and the operator must act before anything can run (`OperatorError`).
 */
import type { Readable } from 'node:stream'
import { ERROR_STATUS, type ErrorCode } from './api/error-codes.ts'
import { OPERATOR_REFUSALS, type ExitCode } from './operator-refusals.ts'
import { REFUSALS } from './refusals.ts'
import { oneLine } from './printable.ts'

/** A code of Postern's own, in the service's envelope. */
export type OwnCode = keyof typeof REFUSALS

/** Fields beside status, code and message in the error object (spec, Error object). */
export interface ErrorExtra {
  expected?: 'text' | 'armored'
  retryAfter?: number
}

/** Base of everything below. `code` is stable; `message` is for people and holds no one's words. */
export abstract class PosternError extends Error {
  abstract readonly code: string

  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options?.cause === undefined ? {} : { cause: options.cause })
    this.name = new.target.name
  }
}

/**
 * We decided not to. Becomes the service's error envelope.
 * @param code one of `REFUSALS`, or a code of the service's that holds here
 * @param detail in addition to the table's sentence; never text of a person
 */
export class Refusal extends PosternError {
  readonly code: OwnCode | ErrorCode
  readonly status: number
  readonly hint: string | undefined
  /** In addition to the table's sentence; may be empty. */
  readonly detail: string
  readonly extra: ErrorExtra

  constructor(
    code: OwnCode | ErrorCode,
    detail = '',
    options: { extra?: ErrorExtra; cause?: unknown } = {},
  ) {
    const { status, what, hint, retryAfter } = rowOf(code)
    const message = what !== undefined && detail ? `${what}: ${detail}` : what || detail || code
    super(message, options)
    this.code = code
    this.status = status
    this.hint = hint
    this.detail = detail
    this.extra = options.extra ?? (retryAfter === undefined ? {} : { retryAfter })
  }
}

/** Refusal `postern_busy`: it may be tried again after the given seconds. */
export const busyRefusal = (detail: string, retryAfter: number): Refusal =>
  new Refusal('postern_busy', detail, { extra: { retryAfter } })

/** Refusal `rate_limited` of a client whose share is used up; nobody else notices it. */
export const shareRefusal = (client: string, what: string, seconds: number): Refusal =>
  new Refusal('rate_limited', `client ${client}: its share of ${what} is used up`, {
    extra: { retryAfter: Math.max(1, Math.ceil(seconds)) },
  })

/** Nobody usable answered: unreachable, too late, or not in the service's language. */
export class NoResponseError extends Refusal {}

/** The service's answer is beyond its bound: a part of it may fit. */
export class TooLargeAnswerError extends NoResponseError {}

/** No more chats can be remembered: nothing failed, and trying again does not help. */
export class TooManyChatsError extends Refusal {}

/** Thrown in a `note` of a store when a concurrent transaction was first: the note runs again. */
export class OvertakenError extends Error {
  constructor() {
    super('another transaction came first')
    this.name = 'OvertakenError'
  }
}

/** No thread can do a job: none starts, memory has run out, or the engine is closed. */
export class EngineUnavailableError extends Refusal {
  /** @param detail the missing resource */
  constructor(detail: string, options: { cause?: unknown } = {}) {
    super('postern_busy', detail, { ...options, extra: { retryAfter: ENGINE_RETRY_SECONDS } })
  }
}

/** The holder of our secret keys does not answer (`KeyHolder`). */
export class KeyHolderUnavailableError extends Refusal {
  /** @param detail for people: who does not answer, and why */
  constructor(detail: string, options: { cause?: unknown } = {}) {
    super('postern_locked', detail, { ...options, extra: { retryAfter: ENGINE_RETRY_SECONDS } })
  }
}

const ENGINE_RETRY_SECONDS = 2

/**
 * Whether an error is a failure of Postern's own, of its store, clock, threads, memory or key holder,
 * rather than of the message or file at hand.
 */
export function isOwnFailure(error: unknown): boolean {
  // a store that is damaged is read in the midst of things too
  if (error instanceof EngineUnavailableError || error instanceof OperatorError) return true
  if (error instanceof KeyHolderUnavailableError) return true
  if (!(error instanceof Refusal) || error instanceof TooManyChatsError) return false
  return error.code === 'postern_store_unwritable' || error.code === 'postern_clock_wrong'
}

/** Whether memory outside of the heap could not be had (V8, Node). */
export const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && /allocation failed|out of memory/i.test(error.message)

/** An unchanged answer of the service, to be relayed byte for byte. */
export interface RawAnswer {
  status: number
  /** Header names in lower case; only those that may be relayed. */
  headers: Record<string, string>
  body: Buffer
  /** In place of `body`, as it arrives. It is read, or destroyed. */
  stream?: Readable
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

/** The operator must act. The message is the exact problem; `hint` is what to do about it. */
export class OperatorError extends PosternError {
  readonly code: OperatorCode
  readonly hint: string
  readonly exitCode: ExitCode

  /** @param options `exitCode`: another than that of the code */
  constructor(
    code: OperatorCode,
    message: string,
    hint = '',
    options?: { cause?: unknown; exitCode?: ExitCode | undefined },
  ) {
    super(message, options)
    this.code = code
    this.exitCode = options?.exitCode ?? OPERATOR_REFUSALS[code].exitCode
    this.hint = hint || OPERATOR_REFUSALS[code].hint
  }
}

const errorOf =
  (code: OperatorCode) =>
  (message: string, hint = '', options?: { cause?: unknown }): OperatorError =>
    new OperatorError(code, message, hint, options)

/** OperatorError `usage`: the command line is wrong. */
export const usageError = errorOf('usage')
/** OperatorError `refused`: Postern does not do this. */
export const refusedError = errorOf('refused')
/** OperatorError `failed`: it was tried and did not work. */
export const failedError = errorOf('failed')

/** The code of an error of Node's, such as `ENOENT`; `unknown` without one. */
export const systemCodeOf = (error: unknown): string =>
  (error as NodeJS.ErrnoException).code ?? 'unknown'

/** OperatorError `failed` for an error of Node's, whose code ends the message. */
export const systemFailure = (problem: string, hint: string, cause: unknown): OperatorError =>
  failedError(`${problem} (${systemCodeOf(cause)})`, hint, { cause })

/** The result of `run`, or the OperatorError that it throws. @throws any other error of `run` */
export function operatorErrorOf<T>(run: () => T): T | OperatorError {
  try {
    return run()
  } catch (error) {
    return asOperatorError(error)
  }
}

/** The error, for a `catch` of a promise. @throws any but an OperatorError */
export function asOperatorError(error: unknown): OperatorError {
  if (error instanceof OperatorError) return error
  throw error
}

/** The result of `run`, or `fallback` where it throws anything. */
export function resultOr<T, F>(run: () => T, fallback: F): T | F {
  try {
    return run()
  } catch {
    return fallback
  }
}

const isIn =
  <Table extends object>(table: Table) =>
  (code: string): code is keyof Table & string =>
    Object.hasOwn(table, code)

/** True when `code` is one that a command ends with. */
export const isOperatorCode = isIn(OPERATOR_REFUSALS)
/** True when `code` is one of the service's, which the sidecar may give in its place. */
export const isBorrowed = isIn(ERROR_STATUS)
/** True when `code` is one of Postern's own. */
export const isOwn = isIn(REFUSALS)

/** The row of the tables for a code; of the service's codes, only the status. */
const rowOf = (
  code: OwnCode | ErrorCode,
): { status: number; what?: string; hint?: string; retryAfter?: number } =>
  isOwn(code) ? REFUSALS[code] : { status: ERROR_STATUS[code] }

/** The clocks are too far apart for making a key. */
export class ClockOff extends OperatorError {
  /** @param skewMs our clock minus the service's */
  constructor(skewMs: number) {
    super(
      'refused',
      `our clock is ${describeSkew(skewMs)}: no key is made`,
      'set this machine’s clock (NTP)',
    )
  }
}

/** How far our clock is from the service's, for people. @param skewMs ours minus the service's */
export function describeSkew(skewMs: number): string {
  const seconds = Math.round(Math.abs(skewMs) / 1000)
  return `${seconds} s ${skewMs >= 0 ? 'ahead of' : 'behind'} the service’s`
}
