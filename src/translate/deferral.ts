/** How long updates are left at the service while facts for their verdicts cannot be fetched. */
import { countedCache } from '../util/caches.ts'
import { monotonicNow } from '../util/clock.ts'
import { transientErrorIn } from '../kernel/index.ts'
import type { ExaminedMessage, FoundMessage, TransientError } from '../kernel/index.ts'

/** Bounds of waiting, in ms. */
export const DEFERRAL_TIMES = {
  /**
   * While our calls are used up, until a minute has passed: for an update, and in each
   * `failedMs` for all of them together.
   */
  busyMs: 180_000,
  /** While the service does not answer. */
  failedMs: 600_000,
  /** The part of each `failedMs` in which others' updates may wait behind. */
  othersMs: 30_000,
}

export type DeferralTimes = typeof DEFERRAL_TIMES

/** A batch and its results; `ready` has no entry for an update that was not examined. */
export interface BatchState {
  updates: readonly FoundMessage[][]
  ready: readonly (ExaminedMessage[] | undefined)[]
  /** More updates may wait at the service behind these. */
  hasMore: boolean
}

/** As many as one batch may name: none is forgotten while its update is left. */
const SENDERS = 10_000
const UPDATES = 200
/** After so long without an answer about somebody, their updates may wait anew. */
const FORGET_MS = 3_600_000
/** Between two tries: a tenth of the time that was waited, within these. */
const PAUSE_MS = { min: 1000, max: 5000 }

/**
 * Decides whether an update is left at the service. After waiting in vain for answers about a person,
 * no update waits for that person again before an answer, so that each person's updates wait once.
 */
export class Deferral {
  readonly #times: DeferralTimes
  readonly #busySinceMs = countedCache<string, number>(UPDATES)
  /** Since when the service has not answered about a sender in a chat. */
  readonly #failedSinceMs = countedCache<string, number>(SENDERS, { ttlMs: FORGET_MS })
  #spanAtMs = monotonicNow()
  /** How long others were, or may have been, kept waiting in this span, by why. */
  #delayedMs: Record<TransientError, number> = { busy: 0, failed: 0 }
  /** Why they are kept waiting now, and since when. */
  #delay: { why: TransientError; sinceMs: number } | null = null

  constructor(times: DeferralTimes) {
    this.#times = times
  }

  /** Whether the service did not answer about a sender of these, lately. */
  hasFailed(messages: readonly FoundMessage[]): boolean {
    return messages.some((one) => this.#failedSinceMs.has(senderOf(one)))
  }

  /** Whether a sender of these is being waited for. */
  isWaitingFor(messages: readonly FoundMessage[]): boolean {
    return messages.some((one) => this.#isWithin(senderOf(one)))
  }

  /** Records the results of a poll, and counts the time that others waited since the last one. */
  record(ready: BatchState['ready']): void {
    const nowMs = monotonicNow()
    if (this.#delay !== null) this.#delayedMs[this.#delay.why] += nowMs - this.#delay.sinceMs
    this.#delay = null
    if (nowMs - this.#spanAtMs >= this.#times.failedMs) {
      this.#spanAtMs = nowMs
      this.#delayedMs = { busy: 0, failed: 0 }
    }
    const examined = ready.flatMap((done) => done ?? [])
    const failed = examined.filter(hasFailed)
    const silent = new Set(failed.map(({ found }) => senderOf(found)))
    for (const one of examined.filter(isByAnswer)) {
      if (!silent.has(senderOf(one.found))) this.#failedSinceMs.delete(senderOf(one.found))
    }
    for (const sender of silent) {
      if (!this.#failedSinceMs.has(sender)) this.#failedSinceMs.set(sender, nowMs)
    }
  }

  /**
   * Whether an update may wait whose Messages would be withheld now.
   * @param key identifies the update
   */
  mayWait(index: number, key: string, batch: BatchState): boolean {
    const done = batch.ready[index] ?? []
    if (transientErrorAmong(done) === 'busy') return this.#mayWaitBusy(key)
    const failed = done.filter(hasFailed)
    if (!failed.some(({ found }) => this.#isWithin(senderOf(found)))) return false
    if (!isBeforeOthers(index, batch)) return true
    return this.#delayedMs.failed < this.#times.othersMs
  }

  /** An update waits. @returns how long to wait before the service is asked again, in ms */
  wait(index: number, batch: BatchState): number {
    const nowMs = monotonicNow()
    const done = batch.ready[index] ?? []
    const why = transientErrorAmong(done) ?? 'failed'
    if (why === 'busy' || isBeforeOthers(index, batch)) {
      this.#delay = { why, sinceMs: nowMs }
      return PAUSE_MS.min
    }
    const sinceMs = done
      .filter(hasFailed)
      .map(({ found }) => this.#failedSinceMs.get(senderOf(found)) ?? nowMs)
    const waitedMs = nowMs - Math.min(nowMs, ...sinceMs)
    return Math.max(PAUSE_MS.min, Math.min(waitedMs / 10, PAUSE_MS.max))
  }

  #isWithin(sender: string): boolean {
    const sinceMs = this.#failedSinceMs.get(sender)
    return sinceMs !== undefined && monotonicNow() - sinceMs < this.#times.failedMs
  }

  #mayWaitBusy(key: string): boolean {
    const sinceMs = this.#busySinceMs.get(key) ?? monotonicNow()
    this.#busySinceMs.set(key, sinceMs)
    const { busyMs } = this.#times
    return monotonicNow() - sinceMs < busyMs && this.#delayedMs.busy < busyMs
  }
}

/** Why an update's Messages may be judged better soon: used-up calls first. */
export function transientErrorAmong(done: readonly ExaminedMessage[]): TransientError | null {
  const reasons = done.map(({ finding }) => transientErrorIn(finding))
  return reasons.find((why) => why === 'busy') ?? reasons.find((why) => why !== null) ?? null
}

/** False for results that need no answer of the service, or may need none: they prove no answer. */
function isByAnswer({ found: { message }, finding }: ExaminedMessage): boolean {
  if (finding.kind === 'opened') return finding.judged.verdict !== 'unsigned'
  return finding.kind === 'readable' || (finding.kind === 'untouched' && 'text' in message)
}

const hasFailed = ({ finding }: ExaminedMessage): boolean => transientErrorIn(finding) === 'failed'

const senderOf = ({ chatId, fromId }: FoundMessage): string => `${chatId}:${fromId}`

/** Whether updates of others, which could be answered, wait behind this one, or may. */
function isBeforeOthers(index: number, { updates, ready, hasMore }: BatchState): boolean {
  if (hasMore) return true
  const senders = new Set((updates[index] ?? []).map(senderOf))
  return ready.slice(index + 1).some((done) => {
    if (done === undefined || transientErrorAmong(done) !== null) return false
    return done.length === 0 || done.some(({ found }) => !senders.has(senderOf(found)))
  })
}

/** Why an update is left at the service: `ours`, Postern itself could not record or open it. */
export type LeavingReason = TransientError | 'ours'

/** An update at which an answer ended, because facts for its verdict could not be fetched. */
export interface LeftAt {
  updateId: number
  /** Null where its Messages do not agree. */
  chatId: number | null
  why: LeavingReason
}

/** `left` again with each poll, `isFirst` with the first one; `came` with its verdict. */
export type LeavingEvent =
  ({ kind: 'left'; isFirst: boolean } & LeftAt) | ({ kind: 'came'; waitedMs: number } & LeftAt)

/** Remembers one update: all behind it are left with it. */
export class LeftUpdate {
  #left: (LeftAt & { sinceMs: number }) | null = null

  /**
   * Records the end of a poll.
   * @param answered the updates that it gave, by id
   * @param left the one that it ended at; null where none was left
   */
  record(answered: readonly number[], left: LeftAt | null): LeavingEvent[] {
    const events: LeavingEvent[] = []
    if (this.#left !== null && answered.includes(this.#left.updateId)) {
      const { sinceMs, ...at } = this.#left
      events.push({ kind: 'came', waitedMs: monotonicNow() - sinceMs, ...at })
      this.#left = null
    }
    if (left === null) return events
    const isFirst = this.#left?.updateId !== left.updateId
    if (isFirst) this.#left = { ...left, sinceMs: monotonicNow() }
    return [...events, { kind: 'left', isFirst, ...left }]
  }
}
