/**
 * Delivers to the bot's webhook: reads the service's queue and POSTs one update at a time, in
 * order. An update answered by 2xx is recorded, then confirmed at the service; no other ever is.
 */
import { FIXED_LIMITS } from '../api/limits.ts'
import { Refusal } from '../errors.ts'
import { stringify } from '../util/exact-json.ts'
import { REAL_CLOCK, type Clock } from '../util/clock.ts'
import { raceAbort } from '../util/race-abort.ts'
import type { OwnWebhook } from '../translate/bot-view.ts'
import type { WebhookClient } from './webhook-client.ts'
import type { Delivered } from './update-batch.ts'
import type { DeliveryFailure } from './delivery-outcome.ts'
import type { Registration } from './registration.ts'
import { OPENED_MAX_AGE_MS, type UpdatePoller } from './update-poller.ts'

/** A delivery under way when the sidecar stops is given so long to end. */
export const GRACE_MS = 5000

const { webhookBackoffFirstMs, webhookBackoffMaxMs } = FIXED_LIMITS

/** A delivery that failed, and is tried again. */
export interface RepeatedDelivery {
  updateId: number
  /** Duration of the attempt. */
  ms: number
  failure: DeliveryFailure
  /** In a row. */
  failures: number
  /** How long is waited before the next try. */
  waitMs: number
}

/** Updates of our own, delivered between those of the service. */
export interface LoopNews {
  /** Those that are still to be delivered after an update. */
  after: (updateId: number) => readonly { id: string; update: unknown }[]
  /** Aborts when there are more. */
  readonly signal: AbortSignal
  /** They were delivered. */
  heard: (ids: readonly string[]) => Promise<void>
}

export const NO_NEWS: LoopNews = {
  after: () => [],
  signal: new AbortController().signal,
  heard: async () => {},
}

export interface DeliveryLoopParts {
  poller: Pick<UpdatePoller, 'next' | 'markDelivered' | 'confirm' | 'confirmsEach'>
  client: Pick<WebhookClient, 'deliver'>
  registration: Pick<Registration, 'webhook' | 'recordDelivered' | 'recordAttempt'>
  /** The update that it delivered last. */
  last: () => Delivered | null
  clock: Clock
  news: LoopNews
  /** False from the moment at which another sidecar may deliver. */
  mayDeliver: () => boolean
  /** Called after each delivery; must not throw. */
  onDelivered: (o: { updateId: number; ms: number; after: number }) => void
  /** Called after each failure. */
  onFailed: (o: RepeatedDelivery) => void
  /** Called with an error that is no Refusal. */
  onUnexpectedError: (error: unknown) => void
}

/** The work on one webhook, from its setting to its end. */
export class DeliveryLoop {
  readonly #parts: DeliveryLoopParts
  readonly #halt = new AbortController()
  readonly #cut = new AbortController()
  readonly #work: Promise<void>

  /** Begins at once. */
  constructor(parts: DeliveryLoopParts) {
    this.#parts = parts
    this.#work = this.#run()
  }

  /**
   * Begins no further delivery, and gives a running one `graceMs` to end; then cuts it off, and its
   * update stays queued. Then confirms delivered updates at the service, unless `confirms` is
   * false. Resolves when all has ended.
   */
  async stop({ graceMs, confirms = true }: { graceMs: number; confirms?: boolean }): Promise<void> {
    this.#halt.abort()
    await Promise.race([this.#work, REAL_CLOCK.wait(graceMs, this.#cut.signal)])
    this.#cut.abort()
    await this.#work
    if (confirms) await this.#parts.poller.confirm()
  }

  /** One of the news, one update: neither waits for all of the others. */
  async #run(): Promise<void> {
    const { clock, poller } = this.#parts
    const { signal } = this.#halt
    const next = async () => ({ opened: await poller.next(signal), atMs: clock.monotonicNow() })
    let reading: ReturnType<typeof next> | null = null
    while (!signal.aborted) {
      reading ??= next()
      const read = await this.#readOrNews(reading)
      await this.#deliverNews()
      if (read === null) continue
      reading = null
      for (const { update, delivered } of read.opened) {
        if (clock.monotonicNow() - read.atMs > OPENED_MAX_AGE_MS) break
        const webhook = this.#webhook()
        if (webhook === null) break
        const isDelivered = await this.#post(update, delivered.updateId, webhook)
        // the queue is to be read anew before anything else is delivered
        if (!isDelivered || !(await this.#record(delivered))) break
        await this.#deliverNews()
      }
    }
    await reading
  }

  /** The updates of a reading; null as soon as there are news, which end no reading. */
  async #readOrNews<T>(reading: Promise<T>): Promise<T | null> {
    // where nothing may be delivered, news end no wait, or it would begin again without end
    if (this.#webhook() === null) return await reading
    const news = raceAbort(reading, this.#parts.news.signal).catch(() => null)
    return await Promise.race([reading, news])
  }

  async #deliverNews(): Promise<void> {
    const { news, last } = this.#parts
    const updateId = last()?.updateId ?? 0
    const [first] = news.after(updateId)
    const webhook = this.#webhook()
    if (first === undefined || webhook === null) return
    if (await this.#post(first.update, updateId, webhook)) await news.heard([first.id])
  }

  /** Null when nothing may be delivered any more. */
  #webhook(): OwnWebhook | null {
    const { registration, mayDeliver } = this.#parts
    return this.#halt.signal.aborted || !mayDeliver() ? null : registration.webhook
  }

  async #post(update: unknown, updateId: number, webhook: OwnWebhook): Promise<boolean> {
    const { client, clock } = this.#parts
    const { url, secret, failures } = webhook
    const startedMs = clock.monotonicNow()
    const signal = this.#cut.signal
    const body = stringify(update)
    const mayLeave = this.#parts.mayDeliver
    const outcome = await client.deliver({ url, secret, body, signal, mayLeave })
    const ms = clock.monotonicNow() - startedMs
    if (outcome.kind === 'abandoned') return false
    if (outcome.kind !== 'delivered') {
      await this.#backOff({ updateId, ms, failure: outcome, failures: failures + 1 })
      return false
    }
    if (failures > 0) await this.#parts.registration.recordAttempt(null)
    this.#parts.onDelivered({ updateId, ms, after: failures })
    return true
  }

  async #record(delivered: Delivered): Promise<boolean> {
    const { poller, registration } = this.#parts
    poller.markDelivered(delivered)
    try {
      await registration.recordDelivered(delivered, this.#parts.mayDeliver)
      poller.confirmsEach = false
      return true
    } catch (error) {
      if (!(error instanceof Refusal)) this.#parts.onUnexpectedError(error)
      poller.confirmsEach = true
      return false
    }
  }

  async #backOff(o: Omit<RepeatedDelivery, 'waitMs'>): Promise<void> {
    const { registration, clock, onFailed } = this.#parts
    const doubled = webhookBackoffFirstMs * 2 ** (o.failures - 1)
    const waitMs = Math.min(doubled, webhookBackoffMaxMs)
    onFailed({ ...o, waitMs })
    const failure = { lastError: o.failure.message, nextAttemptAt: clock.now() + waitMs }
    await Promise.all([registration.recordAttempt(failure), clock.wait(waitMs, this.#halt.signal)])
  }
}
