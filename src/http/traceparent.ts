/** The caller's trace (W3C Trace Context), by the bot's header alone: `tracestate` is not read. */
import type { IncomingHttpHeaders } from 'node:http'

/** A span of the caller: what a trace of ours continues. */
interface CallerSpan {
  /** 32 lower-case hexadecimal digits, not all 0. */
  traceId: string
  /** 16 of them. */
  spanId: string
  /** Whether the caller records the trace. */
  isSampled: boolean
}

/**
 * Version, trace, span and flags (3.2.2); zeros name nothing, and there is no version ff. What follows
 * is of a later version.
 */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-[ -~]*)?$/
const SAMPLED = 1

/**
 * Reads `traceparent`. A later version may have more fields, version 00 has none (3.2.4).
 * @returns null where it is absent, malformed or there twice
 */
export function traceParentOf({ traceparent }: IncomingHttpHeaders): CallerSpan | null {
  if (typeof traceparent !== 'string') return null
  const [, version, traceId = '', spanId = '', flags = '', more] =
    TRACEPARENT.exec(traceparent) ?? []
  if (version === undefined || (version === '00' && more !== undefined)) return null
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 }
}
