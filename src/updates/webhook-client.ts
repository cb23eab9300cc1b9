/** One update, POSTed to the bot's webhook (spec, Events 4). */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from 'node:https'
import { isIP } from 'node:net'
import { FIXED_LIMITS } from '../api/limits.ts'
import { Refusal } from '../errors.ts'
import { Deadline, raceAbort } from '../util/race-abort.ts'
import type { Clock } from './clock.ts'
import { toDeliveryFailure, type DeliveryFailure } from './delivery-outcome.ts'
import { findTarget, type Target, type TargetRules } from './target.ts'

const USER_AGENT = 'Service-Bot-Api/1'
const SECRET_HEADER = 'X-Service-Bot-Api-Secret-Token'
const MAX_HEADER_BYTES = 16_384
/** Of an answer's body, which nobody reads, before its connection is given up. */
const MAX_BODY_BYTES = 65_536
const MAX_BODY_MS = 2000
/** A connection that is not used for so long is closed. */
const IDLE_MS = 30_000

/** What is to be delivered, and where. */
export interface Delivery {
  url: string
  /** What the bot wants to be shown; null when it set none. */
  secret: string | null
  /** JSON. */
  body: string
  /** Gives the delivery up. */
  signal: AbortSignal
}

export type DeliveryOutcome = { kind: 'delivered'; status: number } | DeliveryFailure

export interface WebhookClientParts extends TargetRules {
  clock: Clock
}

/** Makes deliveries. Keeps at most one idle connection to each address. */
export class WebhookClient implements Disposable {
  readonly #parts: WebhookClientParts
  readonly #plain = new HttpAgent({ keepAlive: true, maxFreeSockets: 1, timeout: IDLE_MS })
  readonly #secure = new HttpsAgent({ keepAlive: true, maxFreeSockets: 1, timeout: IDLE_MS })

  constructor(parts: WebhookClientParts) {
    this.#parts = parts
  }

  /**
   * Delivers once; never throws, never follows. The host is resolved anew, and what is connected
   * to is one of the addresses that were checked. All of it takes 10 s at most.
   */
  async deliver(delivery: Delivery): Promise<DeliveryOutcome> {
    const { clock } = this.#parts
    using late = new Deadline((signal) => clock.wait(FIXED_LIMITS.webhookAnswerMs, signal))
    const signal = AbortSignal.any([late.signal, delivery.signal])
    try {
      // A resolver cannot be stopped; nobody should wait for it.
      const target = await raceAbort(findTarget(delivery.url, this.#parts), signal)
      const status = await this.#send(target, { ...delivery, signal })
      return outcomeOf(status)
    } catch (error) {
      if (delivery.signal.aborted) return { kind: 'abandoned', message: 'the delivery was ended' }
      if (late.signal.aborted) return { kind: 'late', message: 'no answer within 10 seconds' }
      if (error instanceof Refusal) return { kind: 'not-allowed', message: error.message }
      return toDeliveryFailure(error)
    }
  }

  [Symbol.dispose](): void {
    this.#plain.destroy()
    this.#secure.destroy()
  }

  /** Tries one address after the other, as long as none could be connected to. */
  async #send(target: Target, delivery: Delivery): Promise<number> {
    for (const address of target.addresses.slice(0, -1)) {
      try {
        return await this.#sendTo(address, target, delivery)
      } catch (error) {
        if (delivery.signal.aborted || !(error instanceof NotConnected)) throw error
      }
    }
    return await this.#sendTo(target.addresses.at(-1) ?? '', target, delivery)
  }

  async #sendTo(address: string, target: Target, delivery: Delivery): Promise<number> {
    try {
      return await this.#attempt(address, target, delivery)
    } catch (error) {
      // The bot closed a connection that was kept for it: that says nothing of the bot.
      if (!(error instanceof Stale) || delivery.signal.aborted) throw error
      return await this.#attempt(address, target, delivery)
    }
  }

  #attempt(address: string, { url, host }: Target, delivery: Delivery): Promise<number> {
    const { body, secret, signal } = delivery
    const isSecure = url.protocol === 'https:'
    const options: RequestOptions = {
      method: 'POST',
      host: address,
      port: url.port === '' ? (isSecure ? 443 : 80) : url.port,
      path: url.pathname + url.search,
      agent: isSecure ? this.#secure : this.#plain,
      // The name is what a certificate is checked for, whatever address was connected to.
      ...(isSecure && { servername: isIP(host) === 0 ? host : '', minVersion: 'TLSv1.2' }),
      headers: {
        Host: url.host,
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body),
        'User-Agent': USER_AGENT,
        ...(secret !== null && { [SECRET_HEADER]: secret }),
      },
      maxHeaderSize: MAX_HEADER_BYTES,
      signal,
    }
    const ask = isSecure ? httpsRequest : httpRequest
    return new Promise((resolve, reject) => {
      let isConnected = false
      const request = ask(options)
        .on('socket', (socket) => {
          isConnected = !socket.connecting
          // A connection that was kept is connected already, and would keep the listener for good.
          if (isConnected) return
          socket.once(isSecure ? 'secureConnect' : 'connect', () => (isConnected = true))
        })
        .on('response', (response) => {
          resolve(response.statusCode ?? 0)
          discard(response)
        })
        .on('upgrade', (response, socket) => {
          resolve(response.statusCode ?? 0)
          socket.destroy()
        })
        .on('error', (error) => {
          if (request.reusedSocket) reject(new Stale(error))
          else reject(isConnected ? error : new NotConnected(error))
        })
        .end(body)
    })
  }
}

/** A connection could not be made; nothing was sent. */
class NotConnected extends Error {
  constructor(cause: unknown) {
    super('not connected', { cause })
  }
}

/** A connection that had been kept open failed before any answer. */
class Stale extends Error {
  constructor(cause: unknown) {
    super('stale', { cause })
  }
}

function outcomeOf(status: number): DeliveryOutcome {
  if (status >= 200 && status < 300) return { kind: 'delivered', status }
  if (status >= 300 && status < 400) {
    return { kind: 'redirected', message: `the bot redirected (${status})` }
  }
  return { kind: 'refused', message: `the bot answered ${status}` }
}

/** Lets an answer's body go by, so that its connection can be used again; within bounds. */
function discard(response: IncomingMessage): void {
  let bytes = 0
  const timer = setTimeout(() => response.destroy(), MAX_BODY_MS).unref()
  response
    .on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > MAX_BODY_BYTES) response.destroy()
    })
    .on('error', () => undefined)
    .on('close', () => clearTimeout(timer))
}
