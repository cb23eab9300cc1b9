/** One POST to a webhook on undici's dispatch: its status counts, its body goes by unread. */
import type { Dispatcher } from 'undici'

/** Of an answer's body, before its connection is given up. */
const MAX_BODY_BYTES = 65_536
const MAX_BODY_MS = 2000

/** The message of undici's error for a 101 without an Upgrade header. */
const UPGRADED = 'bad upgrade'

/** A connection could not be made; nothing was sent. */
export class NotConnectedError extends Error {}

/** A connection that had been kept open failed before any answer. */
export class StaleConnectionError extends Error {}

/** It is another sidecar's turn to deliver; nothing was sent. */
export class TurnLostError extends Error {}

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
 * @throws NotConnectedError, StaleConnectionError, the signal's reason, or the error of the connection
 */
export function post(dispatcher: Dispatcher, sent: WebhookPost): Promise<number> {
  const { options, signal } = sent
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  let controller: Dispatcher.DispatchController | null = null
  let isReused = false
  let bodyBytes = 0
  let bodyTimer: NodeJS.Timeout | undefined
  function giveUp(reason: Error): void {
    reject(reason)
    controller?.abort(reason)
  }
  const onAbort = (): void => giveUp(signal.reason as Error)
  function end(): void {
    clearTimeout(bodyTimer)
    signal.removeEventListener('abort', onAbort)
  }
  if (signal.aborted) return Promise.reject(signal.reason as Error)
  signal.addEventListener('abort', onAbort)
  dispatcher.dispatch(options, {
    onRequestStart(started) {
      controller = started
      isReused = !sent.isNewConnection()
      // It was given up while it waited for the connection: nothing is sent.
      if (signal.aborted) return onAbort()
      if (!sent.mayLeave()) giveUp(new TurnLostError('another sidecar delivers'))
    },
    onResponseStart(started, status) {
      if (status < 200 && status !== 101) return
      resolve(status)
      // No other answer follows it.
      if (status === 101) return started.abort(new Error('not HTTP any more'))
      const endBody = (): void => started.abort(new Error('the body does not end'))
      bodyTimer = setTimeout(endBody, MAX_BODY_MS).unref()
    },
    onResponseData(started, chunk) {
      bodyBytes += chunk.length
      if (bodyBytes > MAX_BODY_BYTES) started.abort(new Error('the body is too long'))
    },
    onResponseEnd: end,
    onResponseError(_controller, error) {
      end()
      if (error.message === UPGRADED) resolve(101)
      else if (signal.aborted) reject(signal.reason)
      else if (controller === null) reject(new NotConnectedError('not connected', { cause: error }))
      else reject(isReused ? new StaleConnectionError('stale', { cause: error }) : error)
    },
  })
  return promise
}
