import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import { readEnvelope, type ApiError } from '../api/envelope.ts'
import type { RawAnswer } from '../errors.ts'
import { Unseen } from '../kernel/index.ts'
import { isObject } from '../api/common.ts'
import { parseAnswer, stringifyAnswer } from '../util/exact-json.ts'
import { wallClockSetMs } from '../util/clock.ts'
import type { Dispatcher } from 'undici'
import { unusable, type Failure } from './errors.ts'
import { exchange, type Exchange, type Received } from './exchange.ts'
import { clockSkewMs, handedOn, inUtf8, joined, requestHeaders } from './headers.ts'
import { makeOneReading, type AnswerKind } from './one-reading.ts'
import { provedSuccess } from './proved-json.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | BodilessMethod
/** Methods whose answer has no result (RFC 9110, 9.3.2 and 9.3.7). */
export type BodilessMethod = 'HEAD' | 'OPTIONS'

/** An answer in the service's envelope; its body is unchanged where all parsers read it alike. */
export interface Answer extends RawAnswer {
  envelope: AnswerEnvelope
}

/** The envelope of an answer; only the kernel reads its result. */
export type AnswerEnvelope = { ok: true; result: Unseen } | { ok: false; error: ApiError }

/** One HTTP request as sent on the wire. */
export interface WireRequest extends Exchange {
  /** Scheme and host; the proxy is chosen by it. */
  origin: string
  method: Method
  /** From the host on, checked. */
  path: string
  body: string | Buffer | undefined
  token: string
  /** The kind of answer; `own`: a success stays here, and no bot reads it. */
  answer: AnswerKind | 'own'
}

/** The result of one request. */
export type AttemptOutcome =
  { kind: 'answered'; answer: Answer; skewMs: number | null } | (Failure & { answer?: never })

/**
 * Sends one request, once. Never follows a redirect: a response that is not the service's envelope
 * under a matching status line is a failure (spec, What the service does, 2).
 * @throws the error of `requireAllowed`; nothing was sent then
 */
export async function attempt(pool: Dispatcher, request: WireRequest): Promise<AttemptOutcome> {
  const { origin, method, path, body = null, token } = request
  const headers = requestHeaders(token, body === null ? 'none' : 'body')
  const sentAtMs = performance.now()
  // `timeoutMs` bounds it. undici's own clock would wake the process twice a second while it runs.
  const options = { origin, method, path, headers, body, headersTimeout: 0 }
  const received = await exchange(pool, options, request)
  if ('kind' in received) return received
  const read = readReceived(received, request)
  return outcomeOf(read instanceof Promise ? await read : read, received, sentAtMs)
}

function readReceived(received: Received, { method, answer: kind }: WireRequest): MaybeLater {
  const { statusCode, body, stream } = received
  if (stream !== undefined) return handedThrough(received, stream)
  if (method !== 'HEAD' && method !== 'OPTIONS') return readAnswer(received, body, kind)
  if (statusCode < 400) return withoutBody(received)
  const read = Promise.resolve(readAnswer(received, body, kind))
  return read.then((answer) => answer ?? withoutBody(received))
}

function outcomeOf(answer: Answer | null, received: Received, sentAtMs: number): AttemptOutcome {
  const { statusCode } = received
  if (answer === null) return unusable(`no envelope in HTTP ${statusCode}`, statusCode)
  // our clock may have been set since the request left: only its present setting counts
  const setMs = wallClockSetMs()
  const date = joined(received.headers['date'])
  const skewMs = clockSkewMs(date, setMs + sentAtMs, setMs + received.gotAtMs)
  return { kind: 'answered', answer, skewMs }
}

/** The status and headers of an answer that is neither a result nor a refusal in the envelope. */
function withoutBody({
  statusCode: status,
  headers,
}: Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'>): Answer {
  const code = status === 401 ? 'unauthorized' : `http_${status}`
  const envelope: AnswerEnvelope =
    status < 400
      ? { ok: true, result: new Unseen(null) }
      : { ok: false, error: { status, code, message: '' } }
  return { status, headers: handedOn(headers), body: Buffer.alloc(0), envelope }
}

/** A success that is proved as it leaves. */
function handedThrough({ statusCode: status, headers }: Received, stream: Readable): Answer {
  const envelope = { ok: true as const, result: new Unseen(null) }
  const proved = provedSuccess(stream, status)
  const kept = inUtf8(handedOn(headers))
  return { status, headers: kept, body: Buffer.alloc(0), stream: proved, envelope }
}

/** An answer in the envelope; of a long one, and of one that is written anew, its promise. */
type MaybeLater = Answer | null | Promise<Answer | null>

/**
 * The answer in the envelope, or null without one. A bot reads the same from it as we do.
 * @param kind `own`: a success that no bot reads
 */
export function readAnswer(
  { statusCode, headers }: Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'>,
  body: Buffer,
  kind: AnswerKind | 'own',
): MaybeLater {
  if (!isUtf8(body)) return null
  const text = body.toString()
  const judge = (json: unknown): MaybeLater => {
    const read = readEnvelope(json, statusCode)
    if (read === null || !isObject(json)) return null
    const envelope = read.ok ? { ok: true as const, result: new Unseen(read.result) } : read
    const answer = { status: statusCode, headers: inUtf8(handedOn(headers)), body, envelope }
    if (kind === 'own' && envelope.ok) return answer
    const isAnother = makeOneReading(json, text, kind === 'own' ? 'other' : kind)
    if (isAnother === false) return answer
    return rewritten(answer, json, isAnother).catch(() => null)
  }
  try {
    const json = parseAnswer(text)
    return json instanceof Promise ? json.then(judge).catch(() => null) : judge(json)
  } catch {
    return null
  }
}

async function rewritten(
  answer: Answer,
  json: Record<string, unknown>,
  isAnother: boolean | Promise<boolean>,
): Promise<Answer> {
  return (await isAnother) ? { ...answer, body: await stringifyAnswer(json) } : answer
}
