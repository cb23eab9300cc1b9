/** What the double reads and writes: requests, answers, faults. */
import type { IncomingHttpHeaders } from 'node:http'

/** A request as it arrived, and what was answered. */
export interface Received {
  method: string
  /** Below `/bot/v1`, without the query; other paths whole. */
  path: string
  /** Without the question mark. */
  query: string
  headers: IncomingHttpHeaders
  body: string
  /** The body's JSON; undefined when there was none. */
  json: Json
  /** Null until something was answered in full. */
  answered: { status: number; body: Buffer } | null
}

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into JSON freely
export type Json = any

/** An HTTP answer; `json` is written with odd spacing, so that a rewritten body shows. */
export interface Answer {
  status?: number
  headers?: Record<string, string>
  json?: unknown
  body?: string | Buffer
}

/** What to do with a request: answer, never answer, close at once, or close within the answer. */
export type Reply = Answer | 'hang' | 'cut' | 'cut-within'
/** A success in the envelope. */
export function ok(result: unknown, status = 200, headers: Record<string, string> = {}): Answer {
  return { status, headers, json: { ok: true, result } }
}

/** A refusal in the envelope. */
export function no(
  status: number,
  code: string,
  extra: { error?: object; headers?: Record<string, string> } = {},
): Answer {
  const error = { status, code, message: `the double says ${code}`, ...extra.error }
  return { status, json: { ok: false, error }, headers: extra.headers ?? {} }
}
