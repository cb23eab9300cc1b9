/** One request and its whole answer, on undici's dispatch: no stream between the socket and us. */
import type { Dispatcher } from 'undici'
import { Pieces } from './pieces.ts'
import { failureOf, givenUp, late, unusableByHead, type Failure } from './errors.ts'

/** A request and its time limits. */
export interface Exchange {
  options: Dispatcher.DispatchOptions
  /** Most bytes of body that are read of the answer. */
  maxBytes: number
  /** Time limit of the whole exchange from now on, in milliseconds; at least 1. */
  timeoutMs: number
  /** Ends the exchange. */
  signal: AbortSignal | undefined
  /** No exchange begins after its abort; the end of the pool ends those under way. */
  stopping: AbortSignal
  /**
   * Called when it is written, after any wait for a connection. @throws to keep it from being sent
   */
  requireAllowed?: (() => void) | undefined
}

/** A response as received. */
export interface Received {
  statusCode: number
  headers: Dispatcher.ResponseData['headers']
  body: Buffer
  /** When its headers were there, by `performance.now()`. */
  gotAtMs: number
}

/**
 * Sends a request once, and never follows a redirect; an exchange that ends early is a failure.
 * @throws the error of `requireAllowed`; nothing was sent then
 */
export function exchange(pool: Dispatcher, sent: Exchange): Promise<Received | Failure> {
  const { options, maxBytes, timeoutMs, signal, stopping, requireAllowed } = sent
  if (signal?.aborted === true || stopping.aborted) return Promise.resolve(givenUp())
  const { promise, resolve, reject } = Promise.withResolvers<Received | Failure>()
  let controller: Dispatcher.DispatchController | null = null
  let answer: (Omit<Received, 'body'> & { pieces: Pieces }) | null = null
  let isOver = false
  function settle(outcome: () => void): void {
    if (isOver) return
    isOver = true
    clearTimeout(timer)
    signal?.removeEventListener('abort', giveUp)
    outcome()
  }
  /** Ends it from our side; a request that waits for a connection is dropped when it gets one. */
  function end(outcome: () => void): void {
    settle(outcome)
    controller?.abort(new Error('over'))
  }
  const fail = (failure: Failure): void => end(() => resolve(failure))
  const giveUp = (): void => fail(givenUp())
  const timer = setTimeout(() => fail(late()), timeoutMs)
  signal?.addEventListener('abort', giveUp)
  try {
    pool.dispatch(options, {
      onRequestStart(started) {
        controller = started
        if (isOver) return started.abort(new Error('over'))
        try {
          requireAllowed?.()
        } catch (error) {
          end(() => reject(error))
        }
      },
      onResponseStart(_controller, statusCode, headers) {
        if (statusCode < 200) return
        const useless = unusableByHead(statusCode, headers)
        if (useless !== null) return fail(useless)
        const pieces = new Pieces(maxBytes, statusCode)
        answer = { statusCode, headers, gotAtMs: performance.now(), pieces }
      },
      onResponseData(_controller, chunk) {
        const failure = isOver ? null : answer?.pieces.take(chunk)
        if (failure) fail(failure)
      },
      onResponseEnd() {
        if (answer === null) return
        const { pieces, ...received } = answer
        settle(() => resolve({ ...received, body: pieces.joined() }))
      },
      onResponseError(_controller, error) {
        const stage = answer === null ? 'before' : 'within'
        settle(() => resolve(stopping.aborted ? givenUp() : failureOf(error, stage)))
      },
    })
  } catch (error) {
    fail(failureOf(error, 'before'))
  }
  return promise
}
