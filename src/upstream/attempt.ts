import { readEnvelope, type Envelope } from '../api/envelope.ts'
import type { RawAnswer } from '../errors.ts'
import { parseExact } from '../json.ts'
import type { Dispatcher } from 'undici'
import { clockSkewMs } from './clock.ts'
import { failureOf, givenUp, late, unusable, type Failure } from './errors.ts'
import { handedOn, joined, requestHeaders } from './headers.ts'

/** Pieces of one body; each costs far more than the octets in it. */
const MAX_CHUNKS = 65_536

/** An answer in the service's envelope, its body as it came. */
export interface Answer extends RawAnswer {
  envelope: Envelope
}

/** One HTTP request as it will stand on the wire. */
export interface WireRequest {
  /** Scheme and host; the proxy is chosen by it. */
  origin: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** From the host on, checked. */
  path: string
  body: string | Buffer | undefined
  token: string
  /** Most bytes of body that are read of the answer. */
  maxBytes: number
  /** What the whole exchange may take from now on, in milliseconds. */
  timeoutMs: number
  /** Ends the exchange when nobody waits for it any more. */
  signal: AbortSignal
}

export type Outcome =
  { kind: 'answered'; answer: Answer; skewMs: number | null } | (Failure & { answer?: never })

/**
 * Sends one request, once. Never throws and never follows: whatever is not the service's envelope
 * under a matching status line is a failure (spec, What the service does, 2).
 */
export async function attempt(pool: Dispatcher, request: WireRequest): Promise<Outcome> {
  const deadline = AbortSignal.timeout(Math.max(1, Math.ceil(request.timeoutMs)))
  const signal = AbortSignal.any([deadline, request.signal])
  let stage: 'before' | 'within' = 'before'
  const sentAt = Date.now()
  try {
    const requesting = pool.request({
      origin: request.origin,
      method: request.method,
      path: request.path,
      headers: requestHeaders(request.token, request.body === undefined ? 'none' : 'body'),
      body: request.body ?? null,
      signal,
      headersTimeout: Math.ceil(request.timeoutMs) + 1000,
    })
    const response = await unlessAborted(requesting, signal)
    stage = 'within'
    const gotAt = Date.now()
    const body = await readBody(response, request.maxBytes)
    if (!Buffer.isBuffer(body)) return body
    const answer = readAnswer(response, body)
    if (answer === null) return unusable('no envelope', response.statusCode)
    return {
      kind: 'answered',
      answer,
      skewMs: clockSkewMs(joined(response.headers['date']), sentAt, gotAt),
    }
  } catch (error) {
    if (request.signal.aborted) return givenUp()
    return deadline.aborted ? late() : failureOf(error, stage)
  }
}

/**
 * A request that still waits for a connection ignores its signal in undici until it gets one. It
 * is then given up unsent; nobody should wait for that.
 */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const end = () => reject(signal.reason as Error)
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', end)
  }
}

/** Reads the whole body of an answer, or says why it need not be read; then the connection is given up. */
export async function readBody(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  maxBytes: number,
): Promise<Buffer | Failure> {
  const refusal = refuse(statusCode, headers)
  if (refusal !== null) {
    body.on('error', () => {}).destroy()
    return refusal
  }
  const chunks: Buffer[] = []
  const failure = await eachPiece(body, (chunk, size) => {
    if (size > maxBytes) return unusable('larger than any answer may be', statusCode)
    if (chunks.length === MAX_CHUNKS) return unusable('an answer in crumbs', statusCode)
    chunks.push(alone(chunk))
    return null
  })
  return failure ?? Buffer.concat(chunks)
}

/**
 * Takes the pieces of a body as they come; iterating would first join those that wait.
 * @param take is given a piece and all octets so far, and says why no more are wanted
 * @throws what the body fails with
 */
async function eachPiece(
  body: Dispatcher.ResponseData['body'],
  take: (chunk: Buffer, size: number) => Failure | null,
): Promise<Failure | null> {
  const { promise, resolve, reject } = Promise.withResolvers<Failure | null>()
  let size = 0
  body.on('data', (chunk: Buffer) => {
    size += chunk.length
    const failure = take(chunk, size)
    if (failure === null) return
    resolve(failure)
    body.removeAllListeners('data').destroy()
  })
  body.on('end', () => resolve(null))
  body.on('error', reject)
  body.on('close', () => reject(new Error('the body was closed before its end')))
  return await promise
}

/** A small piece holds on to all that was read from the socket with it: its octets are taken out. */
function alone(chunk: Buffer): Buffer {
  return chunk.length * 2 < chunk.buffer.byteLength ? Buffer.from(chunk) : chunk
}

/** Why an answer is of no use whatever its body says; null when it may be. */
export function refuse(
  status: number,
  headers: Dispatcher.ResponseData['headers'],
): Failure | null {
  if (status >= 300 && status < 400) return unusable('a redirect', status)
  if (!/^(identity)?$/i.test(joined(headers['content-encoding']))) {
    return unusable('an encoding that was not asked for', status)
  }
  return null
}

/** The answer in the envelope, or null when it is not in it. */
export function readAnswer(
  { statusCode, headers }: Dispatcher.ResponseData,
  body: Buffer,
): Answer | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
    const envelope = readEnvelope(parseExact(text), statusCode)
    return envelope && { status: statusCode, headers: handedOn(headers), body, envelope }
  } catch {
    return null
  }
}
