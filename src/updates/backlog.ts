/** The number and age of updates at the service, which drops those that are too old or too many. */
import { isObject } from '../api/common.ts'
import { FIXED_LIMITS } from '../api/limits.ts'
import type { UpdateHead } from '../kernel/index.ts'
import { Listeners } from '../util/listeners.ts'
import type { Clock } from '../util/clock.ts'

/**
 * `noticed`: updates wait longer than with a running bot. `waiting`: the bot's webhook accepts
 * updates more slowly than they arrive, or none. `expiring`: the service drops some in two days or
 * sooner (spec, Events 2).
 */
export type BacklogLevel = 'none' | 'noticed' | 'waiting' | 'expiring'

export interface BacklogParts {
  clock: Clock
  /** Our clock minus the service's; null when that is not known. */
  skewMs: () => number | null
  /** Whether delivering is our task. A bot that polls may poll at any time. */
  isDelivering: () => boolean
  /** Calls `GET /me` anew; the number of pending updates in it arrives by `recordPending`. */
  ask: () => Promise<unknown>
  /**
   * Reads the oldest update at the service without confirming anything; null while a poll of the
   * bot's may be under way, which that would end.
   */
  peek: () => Promise<readonly UpdateHead[] | null>
}

/** The state of the backlog, and its level before. */
export interface BacklogLook {
  state: Backlog['state']
  before: BacklogLevel
  /** The time until the service drops something fell by another full hour since the last check. */
  isHourLess: boolean
}

const LOOK_MS = 60_000
const HOUR_MS = 3_600_000
const EXPIRING_MS = FIXED_LIMITS.retentionMs / 3
/** How many updates wait at each level, or how long the oldest of them; the worst first. */
const THRESHOLDS: readonly { level: BacklogLevel; count: number; ms: number }[] = [
  { level: 'expiring', count: FIXED_LIMITS.retentionUpdates * 0.8, ms: EXPIRING_MS },
  { level: 'waiting', count: 1000, ms: 600_000 },
  { level: 'noticed', count: 100, ms: 60_000 },
]
/** A level is left when this part of its threshold is left. */
const RELIEF = 0.8

export class Backlog implements Disposable {
  readonly #parts: BacklogParts
  readonly #looks = new Listeners<BacklogLook>()
  /** Calls back after each check and each answer, also without a change. */
  readonly onState = this.#looks.add
  readonly #end = new AbortController()
  #pending: number | null = null
  #oldestAtMs: number | null = null
  /** Counts polls: an update peeked before a poll may be confirmed since. */
  #polls = 0
  /** Which update is the oldest; null before any was read. */
  #oldestId: number | null = null
  /** Whether `#oldestAtMs` is of an update that was read, rather than when we first heard of one. */
  #isDated = false
  #isPeeking = false
  #isBehind = false
  /** It was started, and its loop does not run. */
  #isIdle = false
  #level: BacklogLevel = 'none'
  /** `leftMs` at the last check, in whole hours; null where it was null. */
  #hoursLeft: number | null = null

  constructor(parts: BacklogParts) {
    this.#parts = parts
  }

  /** Checks once a minute while updates wait, and queries the service while they are behind. */
  start(): void {
    this.#isIdle = true
    this.#lookLater()
  }

  /**
   * How many updates are at the service, as it last reported, null before the first report; how long
   * the oldest has been waiting, null when nothing waits; and how long until the service drops that,
   * null before it has waited for a day.
   */
  get state() {
    const oldestMs =
      this.#oldestAtMs === null ? null : Math.max(0, this.#serviceNowMs() - this.#oldestAtMs)
    const isOld = oldestMs !== null && oldestMs >= EXPIRING_MS
    const leftMs = isOld ? Math.max(0, FIXED_LIMITS.retentionMs - oldestMs) : null
    return { level: this.#level, pending: this.#pending, oldestMs, leftMs }
  }

  /** A poll, ours or the bot's, was answered with these, where so many were asked for. */
  recordPoll(updates: readonly UpdateHead[], asked: number): void {
    const isAll = updates.length < asked
    this.#isBehind = !isAll
    if (isAll) this.#pending = updates.length
    this.#polls++
    this.#takeOldest(updates)
    this.#updateLevel()
  }

  /** The service reported how many wait, in `/me` or about the webhook. */
  recordPending(count: number): void {
    this.#pending = count
    if (count === 0) {
      this.#takeOldest([])
    } else {
      // The report has no dates: an update waits at least since the first report of it.
      this.#oldestAtMs ??= this.#serviceNowMs()
      // oxlint-disable-next-line typescript/no-floating-promises -- #date catches its errors
      if (!this.#isDated) void this.#date()
    }
    this.#updateLevel()
  }

  /** After a failed delivery: updates that arrive now wait. */
  markBehind(): void {
    this.#isBehind = true
    this.#lookLater()
  }

  [Symbol.dispose](): void {
    this.#end.abort()
  }

  /** An update without a date, such as a press, counts from when it was first read. */
  #takeOldest(updates: readonly UpdateHead[]): void {
    const [first] = updates
    const dateMs = oldestOf(updates)
    const isSame = first !== undefined && first.updateId === this.#oldestId
    this.#oldestId = first?.updateId ?? null
    this.#isDated = first !== undefined
    if (first === undefined) this.#oldestAtMs = null
    else if (dateMs !== null) this.#oldestAtMs = dateMs
    else if (!isSame || this.#oldestAtMs === null) this.#oldestAtMs = this.#serviceNowMs()
  }

  #serviceNowMs(): number {
    const { clock, skewMs } = this.#parts
    return clock.now() - (skewMs() ?? 0)
  }

  /** Reads the date of the oldest update from the update itself. */
  async #date(): Promise<void> {
    if (this.#isPeeking) return
    this.#isPeeking = true
    const before = this.#polls
    const updates = await this.#parts.peek().catch(() => null)
    this.#isPeeking = false
    if (updates === null || updates.length === 0 || this.#polls !== before) return
    // The one that was heard of: without a date it goes on counting from then.
    this.#oldestId ??= updates[0]?.updateId ?? null
    this.#takeOldest(updates)
    this.#updateLevel()
  }

  /** Where nothing waits, time alone changes nothing. */
  get #mayChange(): boolean {
    return this.#isBehind || this.#level !== 'none' || this.#oldestAtMs !== null
  }

  #lookLater(): void {
    if (!this.#isIdle || !this.#mayChange) return
    this.#isIdle = false
    // oxlint-disable-next-line typescript/no-floating-promises -- the loop catches its errors
    void this.#look()
  }

  async #look(): Promise<void> {
    const { clock, ask } = this.#parts
    const { signal } = this.#end
    while (this.#mayChange) {
      await clock.wait(LOOK_MS, signal)
      if (signal.aborted) return
      if (this.#isBehind || this.#level !== 'none') await ask().catch(() => undefined)
      this.#updateLevel()
    }
    this.#isIdle = true
  }

  #updateLevel(): void {
    const before = this.#level
    const { pending, oldestMs } = this.state
    const reached = THRESHOLDS.find(({ level, count, ms }) => {
      if (level === 'waiting' && !this.#parts.isDelivering()) return false
      const part = before === level ? RELIEF : 1
      return (pending ?? 0) >= count * part || (oldestMs ?? 0) >= ms * part
    })
    this.#level = reached?.level ?? 'none'
    const { state } = this
    const hours = state.leftMs === null ? null : Math.ceil(state.leftMs / HOUR_MS)
    const isHourLess = hours !== null && this.#hoursLeft !== null && hours < this.#hoursLeft
    this.#hoursLeft = hours
    this.#looks.emit({ state, before, isHourLess })
    this.#lookLater()
  }
}

/** When the first that has a date was written, in ms since the epoch. */
function oldestOf(updates: readonly UpdateHead[]): number | null {
  const dates = updates.map((update) => {
    const { message } = update as UpdateHead & { message?: unknown }
    return isObject(message) ? message['date'] : null
  })
  return dates.find((date) => typeof date === 'number') ?? null
}
