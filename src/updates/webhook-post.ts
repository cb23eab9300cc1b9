/** One POST to a webhook on undici's dispatch: its status counts, its body goes by unread. */
import type { Dispatcher } from 'undici'

/** Of an answer's body, before its connection is given up. */
const MAX_BODY_BYTES = 65_536
const MAX_BODY_MS = 2000

/**
 * Informational statuses that undici takes for the end of the connection, by the message that it
 * has for each. Of an answer without them no status is known.
 */
const ENDING_STATUS: Record<string, number> = { 'bad response': 100, 'bad upgrade': 101 }

/** A connection could not be made; nothing was sent. */
export class NotConnectedError extends Error {
  constructor(cause: unknown) {
    super('not connected', { cause })
  }
}

/** A connection that had been kept open failed before any answer. */
export class StaleConnectionError extends Error {
  constructor(cause: unknown) {
    super('stale', { cause })
  }
}

/** It is another sidecar's turn to deliver; nothing was sent. */
export class TurnLostError extends Error {
  constructor() {
    super('another sidecar delivers')
  }
}

export interface WebhookPost {
  options: Dispatcher.DispatchOptions
  /** Gives it up, also while the body goes by. */
  signal: AbortSignal
  /** Asked when the request is written: false when another sidecar may deliver by now. */
  mayLeave: () => boolean
  /** Asked when the request is written: whether its connection was made for it just now. */
  isNewConnection: () => boolean
}

/**
 * Sends it once, and never follows.
 * @returns the status of the answer, as soon as its headers are there
 * @throws NotConnectedError, StaleConnectionError, the signal's reason, or what the connection
 *   failed with
 */
export function post(dispatcher: Dispatcher, sent: WebhookPost): Promise<number> {
  return new Promise((resolve, reject) => new PostHandler(sent, resolve, reject).begin(dispatcher))
}

class PostHandler implements Dispatcher.DispatchHandler {
  readonly #sent: WebhookPost
  readonly #resolve: (status: number) => void
  readonly #reject: (error: unknown) => void
  #controller: Dispatcher.DispatchController | null = null
  #isReused = false
  #bodyBytes = 0
  #bodyTimer: NodeJS.Timeout | undefined

  constructor(
    sent: WebhookPost,
    resolve: (status: number) => void,
    reject: (error: unknown) => void,
  ) {
    this.#sent = sent
    this.#resolve = resolve
    this.#reject = reject
  }

  begin(dispatcher: Dispatcher): void {
    const { options, signal } = this.#sent
    if (signal.aborted) return this.#reject(signal.reason)
    signal.addEventListener('abort', this.#onAbort)
    dispatcher.dispatch(options, this)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    this.#isReused = !this.#sent.isNewConnection()
    // It was given up while it waited for the connection: nothing is sent.
    if (this.#sent.signal.aborted) return this.#onAbort()
    if (this.#sent.mayLeave()) return
    const lost = new TurnLostError()
    this.#reject(lost)
    controller.abort(lost)
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    if (status < 200 && status !== 101) return
    this.#resolve(status)
    // No other answer follows it.
    if (status === 101) return controller.abort(new Error('not HTTP any more'))
    const endBody = (): void => controller.abort(new Error('the body does not end'))
    this.#bodyTimer = setTimeout(endBody, MAX_BODY_MS).unref()
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bodyBytes += chunk.length
    if (this.#bodyBytes > MAX_BODY_BYTES) controller.abort(new Error('the body is too long'))
  }

  onResponseEnd(): void {
    this.#end()
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end()
    const status = ENDING_STATUS[error.message]
    if (status !== undefined) this.#resolve(status)
    else if (this.#sent.signal.aborted) this.#reject(this.#sent.signal.reason)
    else if (this.#controller === null) this.#reject(new NotConnectedError(error))
    else this.#reject(this.#isReused ? new StaleConnectionError(error) : error)
  }

  readonly #onAbort = (): void => {
    const reason = this.#sent.signal.reason as Error
    this.#reject(reason)
    this.#controller?.abort(reason)
  }

  #end(): void {
    clearTimeout(this.#bodyTimer)
    this.#sent.signal.removeEventListener('abort', this.#onAbort)
  }
}
