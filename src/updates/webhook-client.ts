/** One update, POSTed to the bot's webhook (spec, Events 4). */
import { isIPv6 } from 'node:net'
import { Agent, buildConnector } from 'undici'
import { FIXED_LIMITS } from '../api/limits.ts'
import { Refusal } from '../errors.ts'
import { deadline, raceAbort } from '../util/race-abort.ts'
import { readingPastContinue } from '../util/past-continue.ts'
import type { Clock } from '../util/clock.ts'
import { outcomeOf, toDeliveryFailure, type DeliveryOutcome } from './delivery-outcome.ts'
import { findTarget, type WebhookTarget, type TargetRules } from './target.ts'
import { NotConnectedError, StaleConnectionError, TurnLostError, post } from './webhook-post.ts'

const USER_AGENT = 'Service-Bot-Api/1'
const SECRET_HEADER = 'X-Service-Bot-Api-Secret-Token'
const MAX_HEADER_BYTES = 16_384
/** A connection that is not used for so long is closed. */
const IDLE_MS = 30_000

/** One update to deliver, and its target. */
export interface Delivery {
  url: string
  /** The secret that authenticates deliveries to the bot; null when it set none. */
  secret: string | null
  /** JSON. */
  body: string
  /** Gives the delivery up. */
  signal: AbortSignal
  /** Asked last: false when another sidecar may deliver by now. */
  mayLeave: () => boolean
}

export type WebhookClientParts = TargetRules & { clock: Clock }

/** Makes deliveries; its connections are its own, and stay open for the next one. */
export class WebhookClient implements Disposable {
  readonly #parts: WebhookClientParts
  /** One for each connection that is being made. */
  readonly #opening = new Set<AbortController>()
  readonly #agent: Agent
  /** True while a connection that was just made is handed to the request that waits for it. */
  #isNewConnection = false

  constructor(parts: WebhookClientParts) {
    this.#parts = parts
    this.#agent = new Agent({
      allowH2: false,
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
      // a delivery has a deadline of its own
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: this.#connector(),
    })
  }

  /**
   * Delivers once; never throws, never follows a redirect. Resolves the host anew, and connects
   * only to an address that was checked. At most 10 s in all.
   */
  async deliver(delivery: Delivery): Promise<DeliveryOutcome> {
    const { clock } = this.#parts
    using late = deadline((signal) => clock.wait(FIXED_LIMITS.webhookAnswerMs, signal))
    const signal = AbortSignal.any([late.signal, delivery.signal])
    try {
      // A resolver cannot be stopped; nobody should wait for it.
      const target = await raceAbort(findTarget(delivery.url, this.#parts), signal)
      const status = await this.#send(target, { ...delivery, signal })
      return outcomeOf(status)
    } catch (error) {
      if (delivery.signal.aborted || error instanceof TurnLostError) {
        return { kind: 'abandoned', message: 'the delivery was ended' }
      }
      if (late.signal.aborted) return { kind: 'late', message: 'no answer within 10 seconds' }
      if (error instanceof Refusal) return { kind: 'not-allowed', message: error.message }
      return toDeliveryFailure(error)
    }
  }

  /** Ends every connection, also those that are being made. */
  [Symbol.dispose](): void {
    for (const opening of this.#opening) opening.abort()
    // oxlint-disable-next-line typescript/no-floating-promises -- a disposed client waits for no connection
    void this.#agent.destroy()
  }

  /** Tries one address after the other, as long as none could be connected to. */
  async #send(target: WebhookTarget, delivery: Delivery, isAgain = false): Promise<number> {
    const [address = '', ...addresses] = target.addresses
    try {
      return await this.#attempt(address, target, delivery)
    } catch (error) {
      if (delivery.signal.aborted) throw error
      // The bot closed the kept connection: this is no failure of the bot.
      const isStale = error instanceof StaleConnectionError && !isAgain
      if (isStale) return await this.#send(target, delivery, true)
      if (!(error instanceof NotConnectedError) || addresses.length === 0) throw error
      return await this.#send({ ...target, addresses }, delivery)
    }
  }

  #attempt(address: string, { url }: WebhookTarget, delivery: Delivery): Promise<number> {
    const { body, secret, signal } = delivery
    const host = isIPv6(address) ? `[${address}]` : address
    return post(this.#agent, {
      options: {
        method: 'POST',
        // The host is an address: no second resolution.
        origin: `${url.protocol}//${host}${url.port === '' ? '' : `:${url.port}`}`,
        path: url.pathname + url.search,
        headers: {
          // undici uses it as the TLS server name, independent of the address.
          Host: url.host,
          'Content-Type': 'application/json',
          'User-Agent': USER_AGENT,
          ...(secret !== null && { [SECRET_HEADER]: secret }),
        },
        body,
      },
      signal,
      mayLeave: delivery.mayLeave,
      isNewConnection: () => this.#isNewConnection,
    })
  }

  /** Makes connections, each of which can be ended before it is there. */
  #connector(): buildConnector.connector {
    return readingPastContinue((options, callback) => {
      const opening = new AbortController()
      this.#opening.add(opening)
      const connect = buildConnector({
        allowH2: false,
        minVersion: 'TLSv1.2',
        timeout: FIXED_LIMITS.webhookAnswerMs,
        // One signal each: a socket of Node leaves its listener on the signal for good.
        signal: opening.signal,
      })
      // A closing dot belongs to the host header, and not to a name in TLS (RFC 6066, 3).
      const servername = options.servername?.replace(/\.$/, '')
      const named = servername === undefined ? options : { ...options, servername }
      connect(named, (...result) => {
        this.#opening.delete(opening)
        // undici writes the request that waits before this call returns.
        this.#isNewConnection = true
        try {
          callback(...result)
        } finally {
          this.#isNewConnection = false
        }
      })
    })
  }
}
