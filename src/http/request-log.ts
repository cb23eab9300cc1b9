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
  /** The name of the client that called. */
  client?: string
  /** The trace that it is a part of: the caller's, or ours. */
  traceId?: string
  /** From the end of the request's headers to the end of the answer. */
  ms: number
}

/** A line of the log: a request, or how often one failed again in the same way. */
export type FailureLine = RequestLine & { again?: number }

/** How long equal failures are counted instead of logged. */
export const COUNTED_MS = 60_000

/**
 * Counts the failures of a bot that repeats its calls while the service is down: the first is
 * logged, those after it by one line a minute with their number. Failures inside the sidecar (500)
 * are logged one by one.
 */
export class RepeatedFailures {
  readonly #counted = new Map<string, { line: RequestLine; again: number; sinceMs: number }>()
  readonly #nowMs: () => number

  /** @param nowMs a clock that is never set */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** The lines to log once this request has ended; none for one that is only counted. */
  linesFor(line: RequestLine): FailureLine[] {
    if (line.status === 0 || (line.status <= 500 && this.#counted.size === 0)) return [line]
    if (line.status <= 500) return [...this.#countsOf(), line]
    const key = `${line.method} ${line.route} ${line.status} ${line.code} ${line.client}`
    const known = this.#counted.get(key)
    const nowMs = this.#nowMs()
    if (known !== undefined && nowMs - known.sinceMs < COUNTED_MS) {
      known.again += 1
      return []
    }
    this.#counted.set(key, { line, again: 0, sinceMs: nowMs })
    return [known === undefined || known.again === 0 ? line : { ...line, again: known.again }]
  }

  /** The counts so far, which begin anew, with the id of the first request of each. */
  #countsOf(): FailureLine[] {
    const counted = [...this.#counted.values()].filter(({ again }) => again > 0)
    this.#counted.clear()
    return counted.map(({ line, again }) => ({ ...line, again }))
  }
}
