/** Fetching a stored attachment: public, so no token goes with it, and never followed elsewhere. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { PosternError, Refusal } from '../errors.ts'
import { raceAbort } from '../util/race-abort.ts'
import { readAnswer } from './attempt.ts'
import { failureOf, givenUp, late, unusable, unusableByHead, type Failure } from './errors.ts'
import { joined, mediaHeaders } from './headers.ts'
import type { UpstreamLimits } from './limits.ts'
import { Pieces } from './pieces.ts'
import { serviceErrorOf } from './service-error.ts'

export interface MediaRequest {
  origin: string
  /** From the host on, encoded. */
  path: string
  /** Ends it when nobody waits for it any more. */
  signal: AbortSignal
  limits: UpstreamLimits
}

/**
 * Asks for a file, once more when the connection failed before any answer. Gives its bytes as
 * they arrive; ending the iteration ends the call.
 * @throws ServiceError, NoResponseError, Refusal `postern_media_too_large`; the bytes throw the last two
 */
export async function fetchMedia(pool: Dispatcher, request: MediaRequest) {
  const { limits } = request
  const deadline = AbortSignal.timeout(limits.mediaMs)
  const signal = AbortSignal.any([deadline, request.signal])
  const failure = (error: unknown, stage: 'before' | 'within'): Failure => {
    if (request.signal.aborted) return givenUp()
    return deadline.aborted ? late() : failureOf(error, stage)
  }
  const within = (error: unknown): Error =>
    error instanceof PosternError ? error : failure(error, 'within').error
  const response = await ask(pool, request, signal).catch(async (error: unknown) => {
    const first = failure(error, 'before')
    if (first.kind !== 'unreached') throw first.error
    await pause(limits.retryPauseMs, undefined, { signal }).catch(() => undefined)
    return await ask(pool, request, signal).catch((again: unknown) => {
      throw failure(again, 'before').error
    })
  })
  await check(response, limits).catch((error: unknown) => {
    response.body.on('error', () => {}).destroy()
    throw within(error)
  })
  return bytesOf(response.body, limits.maxMediaBytes, within)
}

async function ask(pool: Dispatcher, { origin, path, limits }: MediaRequest, signal: AbortSignal) {
  const headersTimeout = limits.callMs
  const headers = mediaHeaders()
  const asking = pool.request({ origin, method: 'GET', path, headers, signal, headersTimeout })
  // While a request waits for a connection, undici ignores its signal.
  return await raceAbort(asking, signal)
}

/** Anything but a file of an accepted size. */
async function check(response: Dispatcher.ResponseData, limits: UpstreamLimits): Promise<void> {
  const { statusCode, headers } = response
  const useless = unusableByHead(statusCode, headers)
  if (useless !== null) throw useless.error
  if (statusCode === 200) {
    if (Number(joined(headers['content-length'])) > limits.maxMediaBytes) throw tooLarge()
    return
  }
  const noFile = unusable('no file', statusCode).error
  const pieces = new Pieces(limits.maxBytes, statusCode)
  for await (const piece of response.body as AsyncIterable<Buffer>) {
    if (pieces.take(piece) !== null) throw noFile
  }
  const answer = await readAnswer(response, pieces.joined(), 'other')
  if (answer === null || answer.envelope.ok) throw noFile
  throw serviceErrorOf(answer, answer.envelope.error)
}

async function* bytesOf(
  body: Dispatcher.ResponseData['body'],
  maxBytes: number,
  failed: (error: unknown) => Error,
): AsyncGenerator<Uint8Array> {
  let count = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      count += chunk.length
      if (count > maxBytes) throw tooLarge()
      yield chunk
    }
  } catch (error) {
    throw failed(error)
  }
}

const tooLarge = (): Refusal => new Refusal('postern_media_too_large')
