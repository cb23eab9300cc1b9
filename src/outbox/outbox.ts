/** The outbox: sends and edits that are made later, in order in each chat, once each. */
import { isOwnFailure, PosternError, Refusal, ServiceError } from '../errors.ts'
import type { Store } from '../store/store.ts'
import type { Clock } from '../util/clock.ts'
import { Listeners } from '../util/listeners.ts'
import type { OutboxEntries, OutboxEntry } from './entries.ts'

/** What became of one try. `code` null: it was sent. */
export interface OutboxAttempt {
  code: string | null
  /** The message at the service. */
  sentId: number | null
  /** Of a refusal that passes: the wait that it asks for; null: it asks for none. */
  retryMs: number | null
  /** It may be made later, unchanged. */
  mayPass: boolean
  /** The whole bot waits meanwhile, and not its chat alone. */
  isOfAll: boolean
}

export interface OutboxParts {
  entries: OutboxEntries
  store: Pick<Store, 'tryLock' | 'untilFree'>
  clock: Clock
  /**
   * Makes the call, by trust, list, latch and key of now; of an `asked` entry, asks for the word.
   * @throws as `Messages.deliver`
   */
  send: (entry: OutboxEntry, words: Buffer) => Promise<OutboxAttempt>
  /** Setting `outbox.maxAgeHours`, in ms. */
  maxAgeMs: number
}

/** How an entry was settled, or why it waits. */
export interface OutboxEvent {
  id: string
  chatId: number
  state: Exclude<OutboxEntry['state'], 'waiting' | 'asked'>
  code: string | null
}

const WAIT_MS = { first: 1000, last: 60_000 }
/** Longest wait, so that a clock that was set or a change that was missed is noticed. */
const LOOK_MS = 30_000
/** Chats whose entries leave at the same time. */
const AT_ONCE = 4
const STUCK_MS = 600_000
/** Refusals of the service that are about the whole bot. */
const OF_ALL = new Set(['rate_limited', 'unauthorized', 'bot_paused'])

export class Outbox implements AsyncDisposable {
  readonly #parts: OutboxParts
  readonly #events = new Listeners<OutboxEvent>()
  /** Calls back with every entry that was settled. */
  readonly onSettled = this.#events.add
  readonly #stuck = new Listeners<OutboxEntry | null>()
  /** Calls back with the oldest entry that waits too long, and with null once none does. */
  readonly onStuck = this.#stuck.add
  /** When a chat may be tried again, by the monotonic clock; 0 is all chats. */
  readonly #blocked = new Map<number, { untilMs: number; waitMs: number }>()
  readonly #stopping = new AbortController()
  #woken = new AbortController()
  #running: Promise<void> | null = null
  #isStuck = false

  constructor(parts: OutboxParts) {
    this.#parts = parts
    parts.entries.onChange(() => this.#woken.abort())
  }

  get entries(): OutboxEntries {
    return this.#parts.entries
  }

  start(): void {
    this.#running = this.#run()
  }

  /** Waits for the sends under way, and begins none. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    this.#woken.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      this.#woken = new AbortController()
      const waitMs = await this.#round(signal).catch(() => WAIT_MS.first)
      this.#tellStuck()
      await this.#parts.clock.wait(waitMs, AbortSignal.any([signal, this.#woken.signal]))
    }
  }

  /** Sends all due entries, while no other sidecar does. @returns ms until the next round */
  async #round(signal: AbortSignal): Promise<number> {
    if (this.#heads().length === 0) return this.#untilDueMs()
    const { store } = this.#parts
    await using lock = await store.tryLock('outbox')
    if (lock === null) {
      await store.untilFree('outbox', AbortSignal.any([signal, AbortSignal.timeout(LOOK_MS)]))
      return 0
    }
    const mayGoOn = (): boolean => !signal.aborted && lock.isHeld && !lock.asked.aborted
    for (let heads = this.#heads(); heads.length > 0 && mayGoOn(); heads = this.#heads()) {
      // where all waited, one shows whether they still must
      const some = heads.slice(0, this.#blocked.has(0) ? 1 : AT_ONCE)
      await Promise.all(some.map((entry) => this.#leave(entry)))
    }
    return this.#untilDueMs()
  }

  /** The first due entry of each chat that is not blocked. */
  #heads(): OutboxEntry[] {
    const heads = new Map<number, OutboxEntry>()
    for (const entry of this.#waiting()) {
      const place = placeOf(entry)
      if (this.#untilFreeMs(entry) === 0 && !heads.has(place)) heads.set(place, entry)
    }
    return [...heads.values()]
  }

  /** By their times, then in the order in which they were given. */
  #waiting(): OutboxEntry[] {
    const waiting = this.entries.all.filter(({ state }) => state === 'waiting' || state === 'asked')
    return waiting.sort((a, b) => dueOf(a) - dueOf(b))
  }

  #untilDueMs(): number {
    const due = this.#waiting().map((entry) => this.#untilFreeMs(entry))
    return due.length === 0 ? Infinity : Math.min(LOOK_MS, ...due)
  }

  /** How long an entry still waits for its time, its chat and the whole bot; 0: no more. */
  #untilFreeMs(entry: OutboxEntry): number {
    const { clock } = this.#parts
    const blocks = [0, placeOf(entry)].map((place) => this.#blocked.get(place)?.untilMs ?? 0)
    const freeAtMs = Math.max(...blocks)
    return Math.max(dueOf(entry) - clock.now(), freeAtMs - clock.monotonicNow(), 0)
  }

  async #leave(entry: OutboxEntry): Promise<void> {
    const { clock, maxAgeMs } = this.#parts
    const isAsked = entry.state === 'asked'
    const lastMs = isAsked ? (entry.approval?.expiresAtMs ?? 0) - 1 : entry.dueAtMs + maxAgeMs
    if (clock.now() > lastMs) {
      const code = isAsked ? 'postern_approval_late' : 'postern_outbox_expired'
      return await this.#settle(entry, { code, sentId: null })
    }
    const attempt = await this.#try(entry)
    if (attempt.code === null || !attempt.mayPass) {
      this.#blocked.delete(placeOf(entry))
      this.#blocked.delete(0)
      if (isAsked && attempt.code === null) return
      return await this.#settle(entry, attempt)
    }
    const key = attempt.isOfAll ? 0 : placeOf(entry)
    const before = this.#blocked.get(key)?.waitMs ?? WAIT_MS.first / 2
    const waitMs = Math.min(before * 2, WAIT_MS.last)
    const untilMs = clock.monotonicNow() + Math.max(waitMs, attempt.retryMs ?? 0)
    this.#blocked.set(key, { untilMs, waitMs })
  }

  async #try(entry: OutboxEntry): Promise<OutboxAttempt> {
    try {
      const words = await this.entries.words(entry.id)
      if (words === null) return { ...UNFORESEEN, code: 'postern_outbox_expired', mayPass: false }
      return await this.#parts.send(entry, words)
    } catch (error) {
      return attemptOf(error)
    }
  }

  async #settle(
    entry: OutboxEntry,
    { code, sentId }: Pick<OutboxAttempt, 'code' | 'sentId'>,
  ): Promise<void> {
    const isHeld = code === 'postern_mode_changed'
    const state = code === null ? 'sent' : isHeld ? 'held' : 'refused'
    await this.entries.settle(entry.id, { state, code, sentId }, this.#parts.clock.now())
    this.#events.emit({ id: entry.id, chatId: entry.chatId, state, code })
  }

  #tellStuck(): void {
    const sinceMs = this.#parts.clock.now() - STUCK_MS
    const oldest = this.#waiting().find((entry) => dueOf(entry) < sinceMs) ?? null
    if ((oldest !== null) === this.#isStuck) return
    this.#isStuck = oldest !== null
    this.#stuck.emit(oldest)
  }
}

/** The chat that an entry is written to next: that of its approver, while a word is asked for. */
const placeOf = ({ state, chatId, approval }: OutboxEntry): number =>
  state === 'asked' ? (approval?.requests[0]?.chatId ?? chatId) : chatId

/** When there is something to do for an entry: its call, its request, or the end of its time. */
function dueOf({ state, dueAtMs, approval }: OutboxEntry): number {
  if (state !== 'asked' || approval === null) return dueAtMs
  const isUnsent = approval.requests.some(({ messageId }) => messageId === null)
  return isUnsent ? approval.askedAtMs : approval.expiresAtMs
}

/** A defect: its chat waits, until the entry is too old. */
const UNFORESEEN: OutboxAttempt = {
  code: 'internal',
  sentId: null,
  retryMs: null,
  mayPass: true,
  isOfAll: false,
}

/** The consequence of a failed try for its entry: a failure of the moment passes. */
export function attemptOf(error: unknown): OutboxAttempt {
  if (!(error instanceof PosternError)) return UNFORESEEN
  const { code } = error
  const { status, seconds } = answerIn(error)
  const retryMs = seconds === undefined ? null : seconds * 1000
  const how = isOwnFailure(error) ? { mayPass: true, isOfAll: true } : passes(status, code)
  return { code, sentId: null, retryMs, ...how }
}

/** The status of an error, and the wait in seconds that it asks for. */
function answerIn(error: PosternError): { status: number; seconds?: number | undefined } {
  if (error instanceof ServiceError) {
    return { status: error.status, seconds: error.retryAfterSeconds }
  }
  if (error instanceof Refusal) return { status: error.status, seconds: error.extra.retryAfter }
  return { status: 500 }
}

/** Whether a refusal passes by itself, and whether the whole bot waits for that. */
export function passes(status: number, code: string): Pick<OutboxAttempt, 'mayPass' | 'isOfAll'> {
  const isOfAll = status >= 500 || OF_ALL.has(code)
  return { mayPass: isOfAll || status === 429, isOfAll }
}
