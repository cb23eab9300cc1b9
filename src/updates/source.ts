/** The service's queue as the pump reads it: polled, opened, and without what was delivered. */
import type { Update } from '../api/update.ts'
import { Refusal } from '../errors.ts'
import type { Incoming } from '../translate/incoming.ts'
import type { Answer, Upstream } from '../upstream/client.ts'
import { retryAfterSeconds } from '../upstream/retry-after.ts'
import type { Backlog } from './backlog.ts'
import type { Clock } from './clock.ts'
import { afterDelivered, deliveredOf, type Delivered } from './delivered.ts'
import { Pace } from './pace.ts'
import type { PollWatch } from './poll-watch.ts'
import { readUpdates } from './read-updates.ts'

const BATCH = 100
const LONGEST_POLL_S = 50
const FIRST_WAIT_MS = 1000
const MAX_WAIT_MS = 60_000
/** A refused token is not tried more often, so that nobody is locked out by us. */
const TOKEN_MAX_WAIT_MS = 300_000
/** After another's poll took over ours: taking over at once would only go on and on. */
const EVICTED_FIRST_MS = 250
const EVICTED_MAX_MS = 8000
/** The part of the bot's calls that polls of ours may take. */
const SHARE = 0.2
/** What stopping waits for a last confirmation. */
const CONFIRM_MS = 2000

/** An update that is to be delivered, opened. */
export interface Due {
  update: unknown
  /** What it is known by once it has been delivered. */
  delivered: Delivered
}

export interface SourceParts {
  upstream: Upstream
  /** Null when the sidecar holds no key: updates then pass as they came. */
  incoming: Incoming | null
  clock: Clock
  polls: PollWatch
  backlog: Backlog
  /** Limits of `GET /me`: `pollTimeoutMaxS`, `apiCallsPerMinute`. */
  limits: () => { pollTimeoutMaxS: number; apiCallsPerMinute: number }
  /** Told how each poll ended: the service's code, or null when it gave updates. */
  polled: (code: string | null) => void
  /** Told that the queue could not be read, and when it is tried again. */
  held: (o: { code: string; waitMs: number }) => void
  /** Told of an error that nobody foresaw; the queue is then read again. */
  unforeseen: (error: unknown) => void
}

export class Source {
  readonly #parts: SourceParts
  readonly #pace: Pace
  /** What was delivered last; it is confirmed with the next poll. */
  #last: Delivered | null
  #unconfirmed = false
  #ahead = 0
  #limit = BATCH
  #isCautious = false
  #waitMs = FIRST_WAIT_MS
  #evictedMs = EVICTED_FIRST_MS
  #waiting: AbortController | null = null

  /** @param last what was delivered last in a former life, when that is known */
  constructor(parts: SourceParts, last: Delivered | null) {
    this.#parts = parts
    this.#pace = new Pace(parts.clock, () => parts.limits().apiCallsPerMinute * SHARE)
    this.#last = last
  }

  /**
   * Waits for updates, and gives those that are still to be delivered, in order. Gives none when
   * the signal was aborted, when the service would not answer, or when there was nothing new; it
   * is then to be asked again.
   */
  async next(stop: AbortSignal): Promise<Due[]> {
    await this.#pace.turn(stop)
    if (stop.aborted) return []
    try {
      const updates = await this.#poll(stop)
      return updates === null ? [] : await this.#dues(updates)
    } catch (error) {
      if (stop.aborted) return []
      if (!(error instanceof Refusal)) this.#parts.unforeseen(error)
      const code = error instanceof Refusal ? error.code : 'internal'
      // An answer may be more than can be taken at once: then less is asked for.
      if (code === 'postern_upstream_invalid') this.#limit = Math.ceil(this.#limit / 2)
      await this.#hold(code, MAX_WAIT_MS, stop)
      return []
    }
  }

  /** This was delivered; the service is told with the next poll. */
  took(delivered: Delivered): void {
    this.#last = delivered
    this.#unconfirmed = true
    this.#ahead += 1
  }

  /** How many were delivered that the service still counts as waiting. */
  get ahead(): number {
    return this.#ahead
  }

  /** `cautious`: deliveries cannot be recorded, so each is confirmed before the next is given. */
  set recording(how: 'works' | 'fails') {
    this.#isCautious = how === 'fails'
  }

  /** Something has changed at the service: it is asked at once. */
  nudge(): void {
    this.#waiting?.abort()
  }

  /** Tells the service what was delivered, if it does not know; no longer than two seconds. */
  async confirm(): Promise<void> {
    if (!this.#unconfirmed) return
    const query = `${this.#offset}&limit=1`
    const signal = AbortSignal.timeout(CONFIRM_MS)
    const asked = { query, timeoutSeconds: 0, signal, whose: 'own' } as const
    const answer = await this.#parts.upstream.poll(asked).catch(() => null)
    if (answer?.envelope.ok === true) this.#confirmed()
  }

  #confirmed(): void {
    this.#unconfirmed = false
    this.#ahead = 0
  }

  get #offset(): string {
    return `offset=${(this.#last?.updateId ?? -1) + 1}`
  }

  /** One poll. Gives null when there is nothing to work on. */
  async #poll(stop: AbortSignal): Promise<Update[] | null> {
    const { upstream, polls, limits, polled, backlog } = this.#parts
    const timeoutSeconds = Math.min(limits().pollTimeoutMaxS, LONGEST_POLL_S)
    const limit = this.#isCautious ? 1 : this.#limit
    const confirms = this.#unconfirmed
    const query = `${confirms ? `${this.#offset}&` : ''}limit=${limit}&timeout=${timeoutSeconds}`
    const watched = polls.begin(timeoutSeconds)
    const answer = await upstream.poll({ query, timeoutSeconds, signal: stop, whose: 'own' })
    if (stop.aborted) return null
    const { envelope } = answer
    polled(envelope.ok ? null : envelope.error.code)
    if (!envelope.ok) return await this.#refused(answer, stop)
    const updates = readUpdates(envelope.result)
    this.#waitMs = FIRST_WAIT_MS
    if (confirms) this.#confirmed()
    if (watched.answered(updates.length)) return await this.#evicted(stop)
    this.#evictedMs = EVICTED_FIRST_MS
    backlog.saw(updates, limit)
    return updates
  }

  async #dues(updates: Update[]): Promise<Due[]> {
    this.#limit = Math.min(this.#limit * 2, BATCH)
    const left = afterDelivered(updates, this.#last)
    // The service gives again what it was told to forget, or did not hear it.
    if (left.length < updates.length) this.#unconfirmed = true
    if (left.length === 0) return []
    const delivered = left.map(deliveredOf)
    const { incoming } = this.#parts
    const opened = incoming === null ? left : (await incoming.open(left)).updates
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
      this.#parts.held({ code, waitMs: seconds * 1000 })
      await this.#wait(seconds * 1000, stop)
    } else {
      await this.#hold(code, status === 401 ? TOKEN_MAX_WAIT_MS : MAX_WAIT_MS, stop)
    }
    return null
  }

  async #evicted(stop: AbortSignal): Promise<null> {
    await this.#wait(this.#evictedMs, stop)
    this.#evictedMs = Math.min(this.#evictedMs * 2, EVICTED_MAX_MS)
    return null
  }

  /** Waits longer each time, until something works or somebody knows that it would. */
  async #hold(code: string, maxMs: number, stop: AbortSignal): Promise<void> {
    const waitMs = Math.min(this.#waitMs, maxMs)
    this.#parts.held({ code, waitMs })
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
