/** The bot's own webhook: `POST`, `GET` and `DELETE /webhook`. */
import { unobserved } from '../kernel/index.ts'
import { isObject } from '../api/common.ts'
import { Refusal, NoResponseError } from '../errors.ts'
import { withResult, type OwnWebhook } from '../translate/bot-view.ts'
import type { Answer, Upstream } from '../service/client.ts'
import { Listeners } from '../util/listeners.ts'
import { Mutex } from '../util/scheduling.ts'
import type { PollWatch } from './poll-watch.ts'
import { GRACE_MS, type DeliveryLoop } from './delivery-loop.ts'
import type { QueueReader } from './queue-reader.ts'
import type { Registration } from './registration.ts'
import { findTarget, type TargetRules } from './target.ts'

/** Ends every poll at once, since it is a poll; confirms nothing, since it has no offset. */
const TAKE_OVER = '/updates?limit=1'
/** Something small that a paused bot may not have. */
const SMALL = '/commands'

export interface WebhookParts {
  upstream: Upstream
  registration: Registration
  rules: TargetRules
  polls: PollWatch
  /** Reads the changes of another sidecar. @throws Refusal `postern_store_unwritable` */
  fresh: () => Promise<void>
  reader: Pick<QueueReader, 'unconfirmedCount'>
  makeLoop: () => Pick<DeliveryLoop, 'stop'>
}

/** A webhook was set or removed; `takenOver` when one at the service gave way. */
export interface WebhookChange {
  webhook: OwnWebhook | null
  takenOver: boolean
}

export class Webhook implements AsyncDisposable {
  readonly #parts: WebhookParts
  readonly #listeners = new Listeners<WebhookChange>()
  readonly onChange = this.#listeners.add
  #loop: ReturnType<WebhookParts['makeLoop']> | null = null
  #polls = new AbortController()
  readonly #changes = new Mutex()
  #isStopped = false
  #isHeld = false

  constructor(parts: WebhookParts) {
    this.#parts = parts
    parts.registration.onChangedElsewhere(() => void this.#follow())
  }

  /** Begins to deliver, when a webhook is set; also again after `hold`. */
  start(): void {
    this.#isHeld = false
    this.#begin()
  }

  /** Asks nothing of the service any more: its token was burnt. */
  hold(): void {
    this.#isHeld = true
    // oxlint-disable-next-line typescript/no-floating-promises -- the loop reports its own errors
    void this.#end({ graceMs: GRACE_MS, confirms: false })
  }

  /** Delivers anew: by then somebody else reads the queue too. */
  async renew(): Promise<void> {
    await this.#alone({ graceMs: GRACE_MS }, async () => {})
  }

  /** Null when the bot has set none through us. */
  get own(): Readonly<OwnWebhook> | null {
    return this.#parts.registration.webhook
  }

  /** The same, as any sidecar has set it; as it was last known while the database is out of reach. */
  async look(): Promise<Readonly<OwnWebhook> | null> {
    await this.#parts.fresh().catch(() => undefined)
    return this.own
  }

  /** Updates that the bot has and the service still counts. */
  get unconfirmedCount(): number {
    return this.#parts.reader.unconfirmedCount
  }

  /** Aborts when a webhook is set: a poll that is under way then ends with an empty list. */
  get pollsEnd(): AbortSignal {
    return this.#polls.signal
  }

  /**
   * `POST /webhook`: sets or replaces it, removes one at the service, and delivers from then on.
   * @returns the answer for the bot; the service's own when it refuses
   * @throws Refusal `bad_webhook`, `postern_locked`, `postern_store_unwritable`; NoResponseError
   */
  async set(request: { url: string; secret: string | null }): Promise<Answer> {
    await findTarget(request.url, this.#parts.rules)
    return await this.#alone({ graceMs: 0 }, async () => {
      const { registration, fresh } = this.#parts
      await fresh()
      const polled = await this.#tryPolling()
      if (polled?.pending === null) return polled.answer
      const before = registration.webhook
      await registration.set(request)
      const { answer, pending } = polled ?? (await this.#takeAway(before))
      if (pending === null) return answer
      this.#polls.abort()
      this.#listeners.emit({ webhook: registration.webhook, takenOver: polled === null })
      return withResult(answer, { url: request.url, hasSecret: request.secret !== null, pending })
    })
  }

  /** `DELETE /webhook`: ours and one at the service. @returns the service's answer */
  async remove(query: string): Promise<Answer> {
    const { upstream, registration, fresh } = this.#parts
    return await this.#alone({ graceMs: 0 }, async () => {
      await fresh()
      const answer = await upstream.relay({ method: 'DELETE', path: `/webhook${query}` })
      if (!answer.envelope.ok) return answer
      if (registration.webhook !== null) await registration.remove()
      this.#polls = new AbortController()
      this.#listeners.emit({ webhook: null, takenOver: false })
      return answer
    })
  }

  /** The service's own no to a poll while ours is set, if it has one. @throws Refusal */
  async refusePoll(signal: AbortSignal): Promise<Answer | null> {
    if (this.own === null) return null
    const { upstream } = this.#parts
    const answer = await upstream.relay({ method: 'GET', path: SMALL, signal })
    if (!answer.envelope.ok) return answer
    throw new Refusal('webhook_active', 'a webhook is set; DELETE /webhook lets the bot poll')
  }

  /** Ends deliveries; one that is under way may end. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true
    await this.#loop?.stop({ graceMs: GRACE_MS })
  }

  #begin(): void {
    const isIdle = this.#isStopped || this.#isHeld || this.own === null
    if (!isIdle) this.#loop ??= this.#parts.makeLoop()
  }

  async #end(how: Parameters<DeliveryLoop['stop']>[0]): Promise<void> {
    const loop = this.#loop
    this.#loop = null
    await loop?.stop(how)
  }

  /** Another sidecar has set or removed the webhook: deliveries begin anew, or end. */
  async #follow(): Promise<void> {
    await this.#alone({ graceMs: 0, confirms: false }, async () => {
      if (this.own === null) this.#polls = new AbortController()
      else this.#polls.abort()
      this.#listeners.emit({ webhook: this.own, takenOver: false })
    })
  }

  /** One change at a time, and no delivery meanwhile. @param how ends one that is under way */
  #alone<T>(how: Parameters<DeliveryLoop['stop']>[0], change: () => Promise<T>): Promise<T> {
    return this.#changes.run(async () => {
      await this.#end(how)
      try {
        return await change()
      } finally {
        this.#begin()
      }
    })
  }

  /**
   * Asks the service for updates as the delivery loop will, so that a pause, a burnt token and a rate
   * limit have their own answers. @returns null when a webhook is set at the service
   */
  async #tryPolling(): Promise<Pending | null> {
    const { upstream, polls } = this.#parts
    polls.begin(0)
    const answer = await upstream.relay({ method: 'GET', path: TAKE_OVER })
    const { envelope } = answer
    if (envelope.ok) return pendingOf(await upstream.relay({ method: 'GET', path: '/webhook' }))
    return envelope.error.code === 'webhook_active' ? null : { answer, pending: null }
  }

  /** Removes the webhook at the service. When that fails, everything is as it was before. */
  async #takeAway(before: OwnWebhook | null): Promise<Pending> {
    const { upstream, registration } = this.#parts
    const asItWas = () => (before === null ? registration.remove() : registration.set(before))
    try {
      const left = pendingOf(await upstream.relay({ method: 'DELETE', path: '/webhook' }))
      if (left.pending === null) await asItWas()
      return left
    } catch (error) {
      await asItWas()
      throw error
    }
  }
}

/** An answer about a webhook, and how many updates wait; null when the service refused. */
interface Pending {
  answer: Answer
  pending: number | null
}

function pendingOf(answer: Answer): Pending {
  const { envelope } = answer
  if (!envelope.ok) return { answer, pending: null }
  const result = unobserved(envelope.result)
  const pending = isObject(result) ? result['pending'] : null
  if (typeof pending === 'number') return { answer, pending }
  throw new NoResponseError('postern_upstream_invalid', 'the state of a webhook')
}
