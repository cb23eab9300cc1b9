import type { Log } from '../logger.ts'

/** One request, as it may be logged: the pattern of its route, never its url. */
export interface RequestLine {
  requestId: string
  /** Empty when not even that could be read. */
  method: string
  /** As registered, `/bot/v1/chats/:chatId`; `none` when no route was reached. */
  route: string
  /** 0 when the caller hung up before an answer. */
  status: number
  /** The error code of the answer. */
  code?: string
  /** From the end of the request's headers to the end of the answer. */
  ms: number
}

const CODE = /^[a-z][a-z0-9_]{0,63}$/

/** An error code fit for a log or a label: the service may say anything, so odd ones are `other`. */
export function loggableCode(code: string): string {
  return CODE.test(code) ? code : 'other'
}

/** Writes the one line of a request. */
export function logRequest(log: Log, level: 'info' | 'debug', line: RequestLine): void {
  log[level](line, 'request')
}
