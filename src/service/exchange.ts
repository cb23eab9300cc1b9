/** One request and its whole answer, on undici's dispatch: no stream between the socket and us. */
import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { Pieces } from './pieces.ts'
import { failureOf, givenUp, late, unusableByHead, type Failure } from './errors.ts'

/** An `AbortSignal`, or less, which costs less: it may call although `aborted` is false. */
export interface Abortable {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** The time limits of a request. */
export interface Exchange {
  /** Most bytes of body that are read of the answer. */
  maxBytes: number
  /** A success beyond that is handed on as it arrives. */
  mayStream?: boolean | undefined
  /** Time limit of the whole exchange from now on, in milliseconds. */
  timeoutMs: number
  /** Ends the exchange. */
  signal: Abortable | undefined
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
  /** All of a longer body; `body` is empty then. Ending it ends the exchange. */
  stream?: Readable
  /** When its headers were there, by `performance.now()`. */
  gotAtMs: number
}

/**
 * Sends a request once, and never follows a redirect; an exchange that ends early is a failure.
 * @throws the error of `requireAllowed`; nothing was sent then
 */
export function exchange(
  pool: Dispatcher,
  options: Dispatcher.DispatchOptions,
  sent: Exchange,
): Promise<Received | Failure> {
  const { maxBytes, timeoutMs, signal, stopping, requireAllowed } = sent
  if (signal?.aborted === true || stopping.aborted) return Promise.resolve(givenUp())
  const { promise, resolve, reject } = Promise.withResolvers<Received | Failure>()
  let controller: Dispatcher.DispatchController | null = null
  let answer: (Omit<Received, 'body'> & { pieces: Pieces }) | null = null
  let stream: Readable | null = null
  let isOver = false
  function settle(outcome: () => void): void {
    if (isOver) return
    isOver = true
    if (stream === null) release()
    outcome()
  }
  function release(): void {
    clearTimeout(timer)
    signal?.removeEventListener('abort', giveUp)
  }
  /** Ends it from our side; a request that waits for a connection is dropped when it gets one. */
  function end(outcome: () => void): void {
    settle(outcome)
    controller?.abort(new Error('over'))
  }
  const fail = (failure: Failure): void => {
    if (stream === null) end(() => resolve(failure))
    else stream.destroy(failure.error)
  }
  const giveUp = (): void => {
    if (signal?.aborted === true) fail(givenUp())
  }
  const timer = setTimeout(() => fail(late()), Math.ceil(timeoutMs))
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
      onResponseData(started, chunk) {
        if (stream !== null) return void (stream.push(chunk) || started.pause())
        const failure = isOver ? null : answer?.pieces.take(chunk)
        if (!failure || answer === null) return
        if (!sent.mayStream || answer.statusCode >= 300) return fail(failure)
        const { pieces, ...received } = answer
        const all = streamed(started)
        stream = all.once('close', release)
        for (const piece of [pieces.joined(), chunk]) all.push(piece)
        settle(() => resolve({ ...received, body: Buffer.alloc(0), stream: all }))
      },
      onResponseEnd() {
        if (stream !== null) stream.push(null)
        if (answer === null) return
        const { pieces, ...received } = answer
        settle(() => resolve({ ...received, body: pieces.joined() }))
      },
      onResponseError(_controller, error) {
        stream?.destroy(failureOf(error, 'within').error)
        const stage = answer === null ? 'before' : 'within'
        settle(() => resolve(stopping.aborted ? givenUp() : failureOf(error, stage)))
      },
    })
  } catch (error) {
    fail(failureOf(error, 'before'))
  }
  return promise
}

/** A body that its reader paces. Its failure is for the reader, if there is one. */
const streamed = (controller: Dispatcher.DispatchController): Readable =>
  new Readable({
    read: () => controller.resume(),
    destroy(error, done) {
      controller.abort(error ?? new Error('over'))
      done(error)
    },
  }).on('error', () => {})
