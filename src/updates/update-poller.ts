/** Reads the service's queue for the delivery loop: polls, opens, and drops delivered updates. */
import { LIMITS } from '../api/limits.ts'
import type { Sightings, UpdateHead } from '../kernel/index.ts'
import { isOwnFailure, Refusal } from '../errors.ts'
import type { Incoming } from '../translate/incoming.ts'
import type { Answer, Upstream } from '../upstream/client.ts'
import { retryAfterSeconds } from '../upstream/service-error.ts'
import type { Backlog } from './backlog.ts'
import type { Clock } from '../util/clock.ts'
import { afterDelivered, deliveredOf, type Delivered } from './update-batch.ts'
import { RateLimiter } from './rate-limiter.ts'
import type { PollWatch } from './poll-watch.ts'
import type { StoreReach } from './store-reach.ts'

const BATCH: number = LIMITS.pollLimitMax
const FIRST_WAIT_MS = 1000
const MAX_WAIT_MS = 60_000
/** Longest wait after a failure of our own, so that a repair is noticed soon. */
const OWN_MAX_WAIT_MS = 5000
/** A refused token is not tried more often, so that nobody is locked out by us. */
const TOKEN_MAX_WAIT_MS = 300_000
/** After another's poll displaced ours: displacing it at once would only go on and on. */
const EVICTED_FIRST_MS = 250
export const EVICTED_MAX_MS = 4000
/** The share of the bot's calls for polls of ours. */
const SHARE = 0.2
/** How long stopping waits for a last confirmation. */
const CONFIRM_MS = 2000

/** An update that is to be delivered, opened. */
export interface PendingUpdate {
  update: unknown
  /** The record of the update once it has been delivered. */
  delivered: Delivered
}

/** The result of a poll. */
interface Polled {
  unseen: readonly UpdateHead[]
  /** More may wait at the service. */
  hasMore: boolean
}

/** The parts for a poll of the service's queue, by the bot or the sidecar. */
export interface QueueParts {
  upstream: Upstream
  sightings: Pick<Sightings, 'readUpdates'>
  /** Null when the sidecar holds no key: updates then pass unchanged. */
  incoming: Incoming | null
  polls: PollWatch
  backlog: Backlog
  storeReach: Pick<StoreReach, 'begin'>
  /**
   * Called before updates are confirmed, with the id below which all of them are.
   * @throws Refusal `postern_store_unwritable`: then nothing is confirmed
   */
  recordConfirmed: (below: number) => Promise<void>
  /** Called after each poll, with the service's code, or null when it gave updates. */
  onPolled: (code: string | null) => void
}

export interface UpdatePollerParts extends QueueParts {
  clock: Clock
  /** Limits of `GET /me`: `pollTimeoutMaxS`, `apiCallsPerMinute`. */
  limits: () => { pollTimeoutMaxS: number; apiCallsPerMinute: number }
  /** Called when the queue could not be read, with how long is waited before the next try. */
  onReadFailed: (o: { code: string; waitMs: number }) => void
  /** Called with an error that is no Refusal; the queue is then read again. */
  onUnexpectedError: (error: unknown) => void
}

export class UpdatePoller {
  /** Set while deliveries cannot be recorded: each is then confirmed before the next is given. */
  confirmsEach = false
  readonly #parts: UpdatePollerParts
  readonly #rateLimiter: RateLimiter
  /** The update delivered last; the next poll confirms it. */
  #last: Delivered | null
  #isUnconfirmed = false
  #unconfirmedCount = 0
  #limit = BATCH
  #waitMs = FIRST_WAIT_MS
  #evictedMs = EVICTED_FIRST_MS
  #waiting: AbortController | null = null

  /** @param last the update delivered last before this start; null when unknown */
  constructor(parts: UpdatePollerParts, last: Delivered | null) {
    this.#parts = parts
    this.#rateLimiter = new RateLimiter(parts.clock, () => parts.limits().apiCallsPerMinute * SHARE)
    this.#last = last
  }

  /**
   * Waits for updates, and gives those that are still to be delivered, in order. Gives none when
   * the signal was aborted, when the service would not answer, or when there was nothing new; it
   * is then to be asked again.
   */
  async next(stop: AbortSignal): Promise<PendingUpdate[]> {
    await this.#rateLimiter.acquire(stop)
    if (stop.aborted) return []
    let lost: AbortSignal | null = null
    try {
      lost = await this.#parts.storeReach.begin()
      const polled = await this.#poll(AbortSignal.any([stop, lost]))
      return polled === null ? [] : await this.#openPending(polled, stop)
    } catch (error) {
      if (stop.aborted || lost?.aborted === true) return []
      if (!(error instanceof Refusal)) this.#parts.onUnexpectedError(error)
      const code = error instanceof Refusal ? error.code : 'internal'
      // The answer may be too large: request fewer updates.
      if (code === 'postern_upstream_invalid') this.#limit = Math.ceil(this.#limit / 2)
      await this.#backOff(code, isOwnFailure(error) ? OWN_MAX_WAIT_MS : MAX_WAIT_MS, stop)
      return []
    }
  }

  /** Records a delivery; the next poll confirms it at the service. */
  markDelivered(delivered: Delivered): void {
    this.#last = delivered
    this.#isUnconfirmed = true
    this.#unconfirmedCount += 1
  }

  /** How many were delivered that the service still counts as waiting. */
  get unconfirmedCount(): number {
    return this.#unconfirmedCount
  }

  /** Something has changed at the service: it is asked at once. */
  wake(): void {
    this.#waiting?.abort()
  }

  /** Confirms delivered updates at the service, if unconfirmed; at most two seconds. */
  async confirm(): Promise<void> {
    if (!this.#isUnconfirmed) return
    const query = `offset=${this.#offset}&limit=1`
    const signal = AbortSignal.timeout(CONFIRM_MS)
    const asked = { query, timeoutSeconds: 0, signal, whose: 'own' } as const
    const { recordConfirmed, upstream } = this.#parts
    const answer = await recordConfirmed(this.#offset)
      .then(() => upstream.poll(asked))
      .catch(() => null)
    if (answer?.envelope.ok === true) this.#confirmed()
  }

  #confirmed(): void {
    this.#isUnconfirmed = false
    this.#unconfirmedCount = 0
  }

  get #offset(): number {
    return (this.#last?.updateId ?? -1) + 1
  }

  /** One poll. Gives null when there is nothing to work on. */
  async #poll(stop: AbortSignal): Promise<Polled | null> {
    const { upstream, polls, limits, onPolled, backlog } = this.#parts
    const timeoutSeconds = Math.min(limits().pollTimeoutMaxS, LIMITS.pollTimeoutMaxS)
    const limit = this.confirmsEach ? 1 : this.#limit
    const confirms = this.#isUnconfirmed
    if (confirms) await this.#parts.recordConfirmed(this.#offset)
    const offset = confirms ? `offset=${this.#offset}&` : ''
    const query = `${offset}limit=${limit}&timeout=${timeoutSeconds}`
    const watched = polls.begin(timeoutSeconds)
    const answer = await upstream.poll({ query, timeoutSeconds, signal: stop, whose: 'own' })
    if (stop.aborted) return null
    const { envelope } = answer
    onPolled(envelope.ok ? null : envelope.error.code)
    if (!envelope.ok) return await this.#refused(answer, stop)
    const unseen = this.#parts.sightings.readUpdates(envelope.result)
    this.#waitMs = FIRST_WAIT_MS
    if (confirms) this.#confirmed()
    if (watched.wasTakenOver(unseen.length)) {
      watched.takenOver()
      await this.#wait(this.#evictedMs, stop)
      this.#evictedMs = Math.min(this.#evictedMs * 2, EVICTED_MAX_MS)
      return null
    }
    this.#evictedMs = EVICTED_FIRST_MS
    backlog.recordPoll(unseen, limit)
    return { unseen, hasMore: unseen.length >= limit }
  }

  async #openPending({ unseen, hasMore }: Polled, gone: AbortSignal): Promise<PendingUpdate[]> {
    this.#limit = Math.min(this.#limit * 2, BATCH)
    const left = afterDelivered(unseen, this.#last)
    // The service repeats a confirmed update, or the confirmation did not arrive.
    if (left.length < unseen.length) this.#isUnconfirmed = true
    if (left.length === 0) return []
    const delivered = left.map(deliveredOf)
    const { incoming } = this.#parts
    const opened = incoming === null ? left : (await incoming.open(left, { gone, hasMore })).updates
    return opened.flatMap((update, index) => {
      const mark = delivered[index]
      return mark === undefined ? [] : [{ update, delivered: mark }]
    })
  }

  async #refused({ envelope, status, headers }: Answer, stop: AbortSignal): Promise<null> {
    if (envelope.ok) return null
    const { code, retryAfter: body } = envelope.error
    if (status === 429) {
      const seconds = retryAfterSeconds({ code, header: headers['retry-after'], body })
      this.#parts.onReadFailed({ code, waitMs: seconds * 1000 })
      await this.#wait(seconds * 1000, stop)
    } else {
      await this.#backOff(code, status === 401 ? TOKEN_MAX_WAIT_MS : MAX_WAIT_MS, stop)
    }
    return null
  }

  /** Waits longer each time, until something works or somebody knows that it would. */
  async #backOff(code: string, maxMs: number, stop: AbortSignal): Promise<void> {
    const waitMs = Math.min(this.#waitMs, maxMs)
    this.#parts.onReadFailed({ code, waitMs })
    await this.#wait(waitMs, stop)
    this.#waitMs = Math.min(this.#waitMs * 2, maxMs)
  }

  async #wait(ms: number, stop: AbortSignal): Promise<void> {
    const waiting = new AbortController()
    this.#waiting = waiting
    await this.#parts.clock.wait(ms, AbortSignal.any([stop, waiting.signal]))
    this.#waiting = null
  }
}
