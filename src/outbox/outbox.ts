/** The outbox: sends and edits that are made later, in order in each chat, once each. */
import { busyRefusal, isOwnFailure, Refusal, ServiceError } from '../errors.ts'
import type { PermitGround } from '../kernel/index.ts'
import type { Store, StoreLock } from '../store/store.ts'
import type { Clock } from '../util/clock.ts'
import { Listeners } from '../util/listeners.ts'
import { createBlocks, placeOf, type Extent } from './blocks.ts'
import type { Edits } from './edits.ts'
import { isTimed, type OutboxEntries, type OutboxEntry } from './entries.ts'

/** What became of one try. `code` null: it was sent. */
export interface OutboxAttempt extends Pick<OutboxEntry, 'code' | 'sentId'> {
  /** Of a refusal that passes: the wait that it asks for; null: it asks for none. */
  retryMs: number | null
  /** It may be made later, unchanged. */
  mayPass: boolean
  extent: Extent
  /** By the service, and surely: it made the call, or did nothing. */
  isAnswered: boolean
}

export interface OutboxParts {
  entries: OutboxEntries
  store: Pick<Store, 'tryLock' | 'untilFree'>
  clock: Clock
  edits: Pick<Edits, 'answered' | 'untilFreeMs'>
  /**
   * Makes the call, by trust, list, latch and key of now; of an `asked` entry, asks for the word.
   * @param turn the ground on which any words leave
   * @throws as `Messages.deliver`
   */
  send: (entry: OutboxEntry, words: Buffer, turn: PermitGround) => Promise<OutboxAttempt>
  /** Setting `outbox.maxAgeHours`, in ms. */
  maxAgeMs: number
}

/** After a round that failed. */
const ROUND_MS = 1000
/** Longest wait, so that a clock that was set or a change that was missed is noticed. */
const LOOK_MS = 30_000
/** Calls under way: in all, of clients, of each client, and into chats that were in trouble the last time. */
const AT_ONCE = { all: 6, clients: 4, client: 1, troubled: 3 }
const STUCK_MS = 600_000
/** Refusals of the service that are about the whole bot. */
const OF_ALL = new Set(['rate_limited', 'unauthorized', 'bot_paused'])
/** Refusals that rest on the chat and the key list that the service shows. */
const BY_SERVICE = new Set<string | null>([
  'postern_downgrade_refused',
  'postern_no_recipient',
  'postern_recipient_unusable',
  'postern_recipients_inconsistent',
])

export class Outbox implements AsyncDisposable {
  readonly entries: OutboxEntries
  readonly #parts: OutboxParts
  readonly #stuck = new Listeners<OutboxEntry | null>()
  /** Calls back with the oldest entry that waits too long, and with null once none does. */
  readonly onStuck = this.#stuck.add
  readonly #blocks: ReturnType<typeof createBlocks>
  readonly #stopping = new AbortController()
  #woken = new AbortController()
  #running: Promise<void> | null = null
  #isStuck = false

  constructor(parts: OutboxParts) {
    this.#parts = parts
    this.entries = parts.entries
    this.#blocks = createBlocks(() => parts.clock.monotonicNow())
    parts.entries.onChange(() => this.#woken.abort())
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
      const waitMs = await this.#round(signal).catch(() => ROUND_MS)
      await this.#parts.clock.wait(waitMs, AbortSignal.any([signal, this.#woken.signal]))
    }
  }

  /** Sends all due entries, while no other sidecar does. @returns ms until the next round */
  async #round(signal: AbortSignal): Promise<number> {
    const { store, clock } = this.#parts
    await this.entries.refuseLost(clock.now())
    if (this.#look().length === 0) return this.#untilDueMs()
    // what another sidecar has sent does not wait any more
    await using lock = await store.tryLock('outbox', { isFresh: true })
    if (lock === null) {
      await store.untilFree('outbox', AbortSignal.any([signal, AbortSignal.timeout(LOOK_MS)]))
      return 0
    }
    const mayGoOn = (): boolean => !signal.aborted && lock.isHeld && !lock.asked.aborted
    const under = new Map<OutboxEntry, Promise<void>>()
    for (;;) {
      this.#woken = new AbortController()
      for (const entry of this.#look()) {
        if (!mayGoOn()) break
        if (!this.#hasRoom(entry, [...under.keys()])) continue
        const leaving = this.#leave(entry, lock).catch(() => this.#blocks.failed(entry, UNFORESEEN))
        const ended = leaving.finally(() => {
          under.delete(entry)
          this.#woken.abort()
        })
        under.set(entry, ended)
      }
      if (under.size === 0) return mayGoOn() ? this.#untilDueMs() : 0
      if (mayGoOn()) await clock.wait(this.#untilDueMs(), this.#woken.signal)
      else await Promise.all(under.values())
    }
  }

  /** The first due entry of each chat that may leave: chats without trouble first. Reports a stuck one. */
  #look(): OutboxEntry[] {
    const waiting = this.#waiting()
    this.#tellStuck(waiting)
    const heads = new Map<number, OutboxEntry>()
    for (const entry of waiting) {
      const place = placeOf(entry)
      if (!heads.has(place) && this.#untilFreeMs(entry) <= 0) heads.set(place, entry)
    }
    return [...heads.values()].sort((a, b) => this.#trouble(a) - this.#trouble(b))
  }

  #trouble = (entry: OutboxEntry): number => Number(this.#blocks.isTroubled(entry))

  /** Whether an entry may leave beside those that do: nobody has all places. */
  #hasRoom(entry: OutboxEntry, under: readonly OutboxEntry[]): boolean {
    // one shows whether all still must wait
    if (under.length >= (this.#blocks.isOfAll() ? 1 : AT_ONCE.all)) return false
    if (under.some((one) => placeOf(one) === placeOf(entry))) return false
    const count = (isIt: (one: OutboxEntry) => boolean): number => under.filter(isIt).length
    const { client } = entry
    if (client !== null) {
      if (count((one) => one.client !== null) >= AT_ONCE.clients) return false
      if (count((one) => one.client === client) >= AT_ONCE.client) return false
    }
    return this.#trouble(entry) === 0 || count((one) => this.#trouble(one) === 1) < AT_ONCE.troubled
  }

  /** By their times, then in the order in which they were given. */
  #waiting(): OutboxEntry[] {
    return this.entries.waiting.sort((a, b) => dueOf(a) - dueOf(b) || a.number - b.number)
  }

  #untilDueMs(): number {
    const due = this.#waiting().map((entry) => this.#untilFreeMs(entry))
    if (due.length === 0) return Infinity
    // those that are free wait for the end of another
    return Math.min(LOOK_MS, ...due.filter((ms) => ms > 0))
  }

  /** How long an entry still waits for its time, its client, its chat and the whole bot; at most 0: no more. */
  #untilFreeMs(entry: OutboxEntry): number {
    const dueMs = dueOf(entry)
    // a request, and a call that got its word, leave at once, by no clock of a sidecar
    const isAtOnce = dueMs === entry.approval?.askedAtMs || dueMs === entry.approval?.decision?.atMs
    const isOfTime = !isAtOnce && (entry.state === 'asked' || isTimed(entry))
    const nowMs = this.#parts.clock.now()
    const untilPaceMs = this.#parts.edits.untilFreeMs(entry, nowMs - entry.createdAtMs)
    return Math.max(isOfTime ? dueMs - nowMs : 0, untilPaceMs, this.#blocks.untilFreeMs(entry))
  }

  async #leave(entry: OutboxEntry, lock: StoreLock): Promise<void> {
    const { clock, maxAgeMs } = this.#parts
    const isAsked = entry.state === 'asked'
    const lastMs = isAsked ? (entry.approval?.expiresAtMs ?? 0) - 1 : entry.dueAtMs + maxAgeMs
    if (clock.now() > lastMs) {
      const code = isAsked ? 'postern_approval_late' : 'postern_outbox_expired'
      return await this.#settle(entry, { code, sentId: null })
    }
    const turn = this.#turn(entry, lock)
    const attempt = await this.#try(entry, turn)
    // replaced, dropped or decided before its words left: no trouble of its chat
    if (!turn.isTaken && attempt.mayPass && this.entries.get(entry.id)?.state !== entry.state)
      return
    const isKnown = attempt.isAnswered && (attempt.code === null || !turn.isAgain)
    const call = turn.isTaken && !isAsked && isKnown ? ('answered' as const) : undefined
    // whether it was made before, the same call shows once its chat is shown as it was then
    const isYoung = clock.now() < entry.dueAtMs + STUCK_MS
    const mayBeMade = turn.isAgain && BY_SERVICE.has(attempt.code) && isYoung
    if (attempt.mayPass || mayBeMade) {
      this.#blocks.failed(entry, attempt)
      if (call === undefined) return
      await this.entries.change(entry.id, ({ state }) => (state === 'sent' ? null : { call }))
      return
    }
    if (attempt.code === null) this.#parts.edits.answered(entry, { status: 200 })
    this.#blocks.ended(entry, attempt.isAnswered)
    if (isAsked && attempt.code === null) return this.#blocks.asked(entry)
    await this.#settle(entry, { ...attempt, ...(call && { call }) })
  }

  /** The ground on which words leave: the entry still waits, and this sidecar still has the turn. */
  #turn(entry: OutboxEntry, lock: StoreLock) {
    const turn = {
      isTaken: false,
      /** The words left before, and the answer was lost: no refusal of now shows that they did not. */
      isAgain: entry.call === 'open',
      renew: async (): Promise<void> => {
        turn.isAgain ||= turn.isTaken
        turn.isTaken = lock.isHeld && (await this.entries.leaves(entry))
      },
      require: (): void => {
        const isWaiting = this.entries.get(entry.id)?.state === entry.state
        if (turn.isTaken && isWaiting && lock.isHeld) return
        throw busyRefusal('the entry of the outbox is somebody else’s now', 1)
      },
    }
    return turn
  }

  async #try(entry: OutboxEntry, turn: PermitGround): Promise<OutboxAttempt> {
    try {
      const words = await this.entries.words(entry.id)
      if (words === null) return { ...UNFORESEEN, code: 'postern_outbox_expired', mayPass: false }
      return await this.#parts.send(entry, words, turn)
    } catch (error) {
      return attemptOf(error)
    }
  }

  async #settle(
    entry: OutboxEntry,
    { code, sentId, ...more }: Pick<OutboxEntry, 'code' | 'sentId'> & { call?: 'answered' },
  ): Promise<void> {
    const state = code === null ? 'sent' : code === 'postern_mode_changed' ? 'held' : 'refused'
    await this.entries.settle(entry, { state, code, sentId, ...more }, this.#parts.clock.now())
  }

  #tellStuck(waiting: readonly OutboxEntry[]): void {
    const sinceMs = this.#parts.clock.now() - STUCK_MS
    const oldest = waiting.find((entry) => dueOf(entry) < sinceMs) ?? null
    if ((oldest !== null) === this.#isStuck) return
    this.#isStuck = oldest !== null
    this.#stuck.emit(oldest)
  }
}

/** When there is something to do for an entry: its call, its request, or the end of its time. */
function dueOf({ state, dueAtMs, approval }: OutboxEntry): number {
  if (state !== 'asked' || approval === null) return dueAtMs
  const isUnsent = approval.requests.some(({ messageId }) => messageId === null)
  return isUnsent ? approval.askedAtMs : approval.expiresAtMs
}

/** A defect: its chat waits, until the entry is too old. */
export const UNFORESEEN: OutboxAttempt = {
  code: 'internal',
  sentId: null,
  retryMs: null,
  mayPass: true,
  extent: 'chat',
  isAnswered: false,
}

/** The consequence of a failed try for its entry: a failure of the moment passes. */
export function attemptOf(error: unknown): OutboxAttempt {
  if (!(error instanceof ServiceError || error instanceof Refusal)) {
    return { ...UNFORESEEN, extent: isOwnFailure(error) ? 'all' : 'chat' }
  }
  const { code, status } = error
  const isOfService = error instanceof ServiceError
  const seconds = isOfService ? error.retryAfterSeconds : error.extra.retryAfter
  const isOfAll = status >= 500 || OF_ALL.has(code)
  // of Postern's own refusals this is the rate of a client
  const isOfClient = !isOfService && code === 'rate_limited'
  return {
    code,
    sentId: null,
    retryMs: seconds === undefined ? null : seconds * 1000,
    mayPass: isOfAll || status === 429,
    extent: isOfClient ? 'client' : isOfAll ? 'all' : 'chat',
    isAnswered: isOfService && status < 500,
  }
}
