import type { IncomingHttpHeaders } from 'node:http'

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

/**
 * Version, trace, span and flags (3.2.2); zeros name nothing, and there is no version ff. What follows
 * is of a later version.
 */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-[ -~]*)?$/
const SAMPLED = 1

/**
 * Reads the trace of the caller (W3C Trace Context) by `traceparent`; `tracestate` is not read. A later
 * version may have more fields, version 00 has none (3.2.4).
 * @returns the span of the caller, which a trace of ours continues: `traceId` has 32 lower-case
 *   hexadecimal digits, `spanId` 16, not all 0; `isSampled`: the caller records the trace. Null where the
 *   header is absent, malformed or there twice
 */
export function traceParentOf({ traceparent }: IncomingHttpHeaders) {
  if (typeof traceparent !== 'string') return null
  const [, version, traceId = '', spanId = '', flags = '', more] =
    TRACEPARENT.exec(traceparent) ?? []
  if (version === undefined || (version === '00' && more !== undefined)) return null
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 }
}
