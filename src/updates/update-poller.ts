/** Polls of our own: for deliveries, and for several consumers. */
import type { Limits } from '../api/limits.ts'
import { isOwnFailure, Refusal } from '../errors.ts'
import type { Answer } from '../service/client.ts'
import { serviceErrorOf } from '../service/service-error.ts'
import type { Clock } from '../util/clock.ts'
import type { QueueReader } from './queue-reader.ts'
import { deliveredOf, type Delivered } from './update-batch.ts'

const FIRST_WAIT_MS = 1000
const MAX_WAIT_MS = 60_000
/** A refused token is not tried more often, so that nobody is locked out by us. */
const TOKEN_MAX_WAIT_MS = 300_000
/** After another's poll displaced ours: displacing it at once would only go on and on. */
const EVICTED_FIRST_MS = 250
export const EVICTED_MAX_MS = 4000
/** The share of the bot's calls for polls of ours. */
const SHARE = 0.2
/** Polls that are made at once: it does not slow a conversation down, and a flood waits at the service. */
const BURST = 20
/** How long stopping waits for a last confirmation. */
const CONFIRM_MS = 2000

/**
 * Updates opened longer ago are fetched and judged anew, with newer knowledge: deliveries may need
 * seconds each.
 */
export const OPENED_MAX_AGE_MS = 10_000

/** An update that is to be delivered, opened. */
export interface PendingUpdate {
  update: unknown
  /** The record of the update once it has been delivered. */
  delivered: Delivered
}

export interface UpdatePollerParts {
  reader: Pick<QueueReader, 'begin' | 'read' | 'confirm' | 'most' | 'woken' | 'unconfirmedCount'>
  clock: Clock
  /** Of `GET /me`. */
  limits: () => Pick<Limits, 'apiCallsPerMinute'>
  /** Called when the queue could not be read, with how long is waited before the next try. */
  onReadFailed: (o: { code: string; waitMs: number }) => void
  /** Called with an error that is no Refusal; the queue is then read again. */
  onUnexpectedError: (error: unknown) => void
}

export class UpdatePoller {
  /** Set while deliveries cannot be recorded: each is then confirmed before the next is given. */
  confirmsEach = false
  /** All updates of the last answer, with delivered ones and those that were not opened. */
  given: readonly Delivered[] = []
  /** The most updates that it could have. */
  limit = Infinity
  readonly #parts: UpdatePollerParts
  /** The update delivered last; the next poll confirms it. */
  #last: Delivered | null
  #isUnconfirmed = false
  #waitMs = FIRST_WAIT_MS
  #evictedMs = EVICTED_FIRST_MS
  /** When all polls that were made would have been made at an even pace. */
  #pacedMs = -Infinity

  /** @param last the update delivered last before this start; null when unknown */
  constructor(parts: UpdatePollerParts, last: Delivered | null) {
    this.#parts = parts
    this.#last = last
    parts.reader.unconfirmedCount = 0
  }

  /**
   * Waits for updates, and gives those that are still to be delivered, in order. Gives none when
   * the signal was aborted, when the service would not answer, or when there was nothing new; it
   * is then to be asked again.
   */
  async next(stop: AbortSignal): Promise<PendingUpdate[]> {
    this.given = []
    await this.#pace(stop)
    if (stop.aborted) return []
    let lost: AbortSignal | null = null
    try {
      lost = await this.#parts.reader.begin()
      return await this.#read(AbortSignal.any([stop, lost]))
    } catch (error) {
      if (stop.aborted || lost?.aborted === true) return []
      if (!(error instanceof Refusal)) this.#parts.onUnexpectedError(error)
      const code = error instanceof Refusal ? error.code : 'internal'
      // the repair of a failure of our own is noticed soon
      await this.#backOff(code, isOwnFailure(error) ? FIRST_WAIT_MS : MAX_WAIT_MS, stop)
      return []
    }
  }

  /** Records a delivery; the next poll confirms it at the service. */
  markDelivered(delivered: Delivered): void {
    this.#last = delivered
    this.#isUnconfirmed = true
    this.#parts.reader.unconfirmedCount += 1
  }

  /** Confirms delivered updates at the service, if unconfirmed; at most two seconds. */
  async confirm(): Promise<void> {
    const { reader } = this.#parts
    if (!this.#isUnconfirmed) return
    if (await reader.confirm(this.#offset, AbortSignal.timeout(CONFIRM_MS))) this.#confirmed()
  }

  #confirmed(): void {
    this.#isUnconfirmed = false
    this.#parts.reader.unconfirmedCount = 0
  }

  get #offset(): number {
    return (this.#last?.updateId ?? -1) + 1
  }

  async #read(stop: AbortSignal): Promise<PendingUpdate[]> {
    const { reader } = this.#parts
    const { timeoutSeconds, limit } = reader.most
    const confirms = this.#isUnconfirmed
    const below = confirms ? this.#offset : 0
    const asked = { query: null, below, limit: this.confirmsEach ? 1 : limit, timeoutSeconds }
    const read = await reader.read(asked, { signal: stop, after: this.#last })
    const { how, answer, updates, heads, given } = read
    if (stop.aborted) return []
    if (how === 'refused') return await this.#refused(answer, stop)
    this.#waitMs = FIRST_WAIT_MS
    if (confirms) this.#confirmed()
    if (how !== 'read') {
      await this.#wait(this.#evictedMs, stop)
      this.#evictedMs = Math.min(this.#evictedMs * 2, EVICTED_MAX_MS)
      return []
    }
    this.#evictedMs = EVICTED_FIRST_MS
    // the service repeats a confirmed update, or the confirmation did not arrive
    if (heads.length < given.length) this.#isUnconfirmed = true
    this.given = given.map(deliveredOf)
    this.limit = read.limit
    return heads.slice(0, updates.length).map((head, index) => {
      return { update: updates[index], delivered: deliveredOf(head) }
    })
  }

  async #refused(answer: Answer, stop: AbortSignal): Promise<[]> {
    if (answer.envelope.ok) return []
    const { code, status, retryAfterSeconds } = serviceErrorOf(answer, answer.envelope.error)
    if (retryAfterSeconds === undefined) {
      await this.#backOff(code, status === 401 ? TOKEN_MAX_WAIT_MS : MAX_WAIT_MS, stop)
    } else {
      const waitMs = retryAfterSeconds * 1000
      this.#parts.onReadFailed({ code, waitMs })
      await this.#wait(waitMs, stop)
    }
    return []
  }

  /** Waits longer each time, until something works or somebody knows that it would. */
  async #backOff(code: string, maxMs: number, stop: AbortSignal): Promise<void> {
    const waitMs = Math.min(this.#waitMs, maxMs)
    this.#parts.onReadFailed({ code, waitMs })
    await this.#wait(waitMs, stop)
    this.#waitMs = Math.min(this.#waitMs * 2, maxMs)
  }

  async #wait(ms: number, stop: AbortSignal): Promise<void> {
    const { clock, reader } = this.#parts
    await clock.wait(ms, AbortSignal.any([stop, reader.woken]))
  }

  /** Waits where polls are made faster than at their share of the bot's calls, but for a burst. */
  async #pace(stop: AbortSignal): Promise<void> {
    const { clock, limits } = this.#parts
    const everyMs = 60_000 / Math.max(1, limits().apiCallsPerMinute * SHARE)
    const nowMs = clock.monotonicNow()
    this.#pacedMs = Math.max(this.#pacedMs, nowMs - BURST * everyMs) + everyMs
    if (this.#pacedMs > nowMs) await clock.wait(this.#pacedMs - nowMs, stop)
  }
}
