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
 * @param nowMs a clock that is never set
 * @returns gives the lines to log once a request has ended; none for one that is only counted
 */
export function countRepeated(nowMs: () => number): (line: RequestLine) => FailureLine[] {
  const counts = new Map<string, { line: RequestLine; again: number; sinceMs: number }>()
  return (line) => {
    if (line.status === 0) return [line]
    if (line.status <= 500) {
      const repeated = [...counts.values()].filter(({ again }) => again > 0)
      counts.clear()
      return [...repeated.map(({ line: first, again }) => ({ ...first, again })), line]
    }
    const key = `${line.method} ${line.route} ${line.status} ${line.code} ${line.client}`
    const known = counts.get(key)
    const sinceMs = nowMs()
    if (known !== undefined && sinceMs - known.sinceMs < COUNTED_MS) {
      known.again += 1
      return []
    }
    counts.set(key, { line, again: 0, sinceMs })
    return [known === undefined || known.again === 0 ? line : { ...line, again: known.again }]
  }
}
