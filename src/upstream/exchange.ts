/** One request and its whole answer, on undici's dispatch: no stream between the socket and us. */
import type { Dispatcher } from 'undici'
import { Pieces } from './pieces.ts'
import { failureOf, givenUp, late, whyUnusable, type Failure } from './errors.ts'

/** What is sent, and how long it may take. */
export interface Exchange {
  options: Dispatcher.DispatchOptions
  /** Most bytes of body that are read of the answer. */
  maxBytes: number
  /** What the whole exchange may take from now on, in milliseconds; at least 1. */
  timeoutMs: number
  /** Ends the exchange. */
  signal: AbortSignal | undefined
  /** Nothing is begun any more; the end of the pool ends what is under way. */
  stopping: AbortSignal
  /**
   * Asked when it is written, after any wait for a connection. @throws what keeps it from leaving
   */
  requireAllowed?: (() => void) | undefined
}

/** An answer as it came. */
export interface Received {
  statusCode: number
  headers: Dispatcher.ResponseData['headers']
  body: Buffer
  /** When its headers were there, by `performance.now()`. */
  gotAtMs: number
}

/**
 * Sends it once, and never follows; whatever ends it before its end is a failure.
 * @throws what `requireAllowed` throws; nothing was sent then
 */
export function exchange(pool: Dispatcher, sent: Exchange): Promise<Received | Failure> {
  return new Promise((resolve, reject) =>
    new ExchangeHandler(sent, { resolve, reject }).begin(pool),
  )
}

class ExchangeHandler implements Dispatcher.DispatchHandler {
  readonly #sent: Exchange
  readonly #resolve: (outcome: Received | Failure) => void
  readonly #reject: (error: unknown) => void
  #timer: NodeJS.Timeout | undefined
  #controller: Dispatcher.DispatchController | null = null
  #isOver = false
  #answer: (Omit<Received, 'body'> & { pieces: Pieces }) | null = null

  constructor(
    sent: Exchange,
    ends: { resolve: (outcome: Received | Failure) => void; reject: (error: unknown) => void },
  ) {
    this.#sent = sent
    this.#resolve = ends.resolve
    this.#reject = ends.reject
  }

  begin(pool: Dispatcher): void {
    const { options, signal, stopping, timeoutMs } = this.#sent
    if (signal?.aborted === true || stopping.aborted) return this.#resolve(givenUp())
    signal?.addEventListener('abort', this.#giveUp)
    this.#timer = setTimeout(() => this.#end(late()), timeoutMs)
    try {
      pool.dispatch(options, this)
    } catch (error) {
      this.#end(failureOf(error, 'before'))
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isOver) return controller.abort(new Error('over'))
    try {
      this.#sent.requireAllowed?.()
    } catch (error) {
      this.#close()
      this.#reject(error)
      controller.abort(new Error('over'))
    }
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Received['headers'],
  ): void {
    if (statusCode < 200) return
    const useless = whyUnusable(statusCode, headers)
    if (useless !== null) return this.#end(useless)
    const pieces = new Pieces(this.#sent.maxBytes, statusCode)
    this.#answer = { statusCode, headers, gotAtMs: performance.now(), pieces }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const failure = this.#isOver ? null : this.#answer?.pieces.take(chunk)
    if (failure) this.#end(failure)
  }

  onResponseEnd(): void {
    if (this.#answer === null) return
    const { pieces, ...answer } = this.#answer
    this.#settle({ ...answer, body: pieces.joined() })
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const stage = this.#answer === null ? 'before' : 'within'
    this.#settle(this.#sent.stopping.aborted ? givenUp() : failureOf(error, stage))
  }

  readonly #giveUp = (): void => this.#end(givenUp())

  /** Ends it from our side; a request that waits for a connection is dropped when it gets one. */
  #end(failure: Failure): void {
    this.#settle(failure)
    this.#controller?.abort(new Error('over'))
  }

  #settle(outcome: Received | Failure): void {
    if (this.#isOver) return
    this.#close()
    this.#resolve(outcome)
  }

  #close(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#sent.signal?.removeEventListener('abort', this.#giveUp)
  }
}
