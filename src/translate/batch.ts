/** A batch of updates examined side by side, of which the longest finished prefix is answered. */
import { createHash } from 'node:crypto'
import { setTimeout as elapsed } from 'node:timers/promises'
import { BoundedCache, countedCache } from '../util/caches.ts'
import { EngineUnavailableError, isOutOfMemory, isOwnFailure } from '../errors.ts'
import { raceAbort } from '../util/race-abort.ts'
import { nextTurn } from '../util/scheduling.ts'
import { monotonicNow } from '../util/clock.ts'
import { examine, isProtectedSince, transientErrorIn, unexamined } from '../kernel/index.ts'
import type { Arrival, ExamineParts, ExaminedMessage } from '../kernel/index.ts'
import type { FoundMessage, MessageFinding } from '../kernel/index.ts'
import { DEFERRAL_TIMES, Deferral, transientErrorAmong } from './deferral.ts'
import type { LeavingReason, BatchState } from './deferral.ts'

/** Time limits of a batch, and of deferred updates in it. */
export const BATCH_TIMES = {
  /** For the whole batch; unfinished updates are given by the next poll. */
  budgetMs: 15_000,
  /** For its first update, which must not hold up the queue for ever. */
  firstMs: 35_000,
  ...DEFERRAL_TIMES,
}

export type BatchTimes = typeof BATCH_TIMES

/** The requester of a batch. */
export interface BatchRequest {
  /** Ends the work when the requester is gone; finished updates are kept. */
  gone?: AbortSignal | undefined
  /** More updates may wait at the service behind these. */
  hasMore?: boolean
  /** Called when an update is left at the service, with its index. */
  onLeft?: ((left: { index: number; why: LeavingReason }) => void) | undefined
}

/** Updates finished too late are kept for the next poll, which requests them again. */
const KEPT_UPDATES = 200
const KEPT_MS = 120_000
/** Armored, opened, and as bytes for the signatures: a message can need a megabyte. */
const KEPT_BYTES = 64 * 2 ** 20
/** How often the first update may exceed its time before that counts as its own fault. */
const OVERDUE_TRIES = 3
/** Waits before calls that failed are made again, and until when after the first. */
const RETRY_AFTER_MS = [200, 800]
const RETRY_WITHIN_MS = 5000

export class Batches {
  readonly #parts: ExamineParts
  readonly #times: BatchTimes
  readonly #kept = new BoundedCache<string, ExaminedMessage[]>(KEPT_UPDATES, {
    ttl: KEPT_MS,
    maxSize: KEPT_BYTES,
    sizeCalculation: sizeOf,
  })
  readonly #deferral: Deferral
  /** How often an update was not examined in time, by `keyOf`. */
  readonly #overdue = countedCache<string, number>(KEPT_UPDATES)

  constructor(parts: ExamineParts, times: BatchTimes = BATCH_TIMES) {
    this.#parts = parts
    this.#times = times
    this.#deferral = new Deferral(times)
  }

  /**
   * Examines the Messages of updates in order of arrival.
   * @param updates one list of Messages an update, oldest first
   * @returns the longest finished prefix; empty where nobody waits, and where the first update is left
   *   at the service: it was not examined in time, or the service could not be asked
   * @throws Refusal when the first update cannot be examined for a failure of our own
   */
  async examine(
    updates: FoundMessage[][],
    { gone, hasMore = false, onLeft }: BatchRequest = {},
  ): Promise<ExaminedMessage[][]> {
    if (updates.length === 0 || isOver(gone)) return []
    const batch: Batch = {
      updates,
      ready: updates.map(() => undefined),
      failures: new Map(),
      hasMore,
      onLeft,
    }
    const known = updates.map((messages) => this.#deferral.hasFailed(messages))
    // While updates wait for answers about a person, only the first one makes calls for that
    // person.
    const indexes = [...updates.keys()]
    const isPut = (index: number): boolean => this.#deferral.isWaitingFor(updates[index] ?? [])
    const rest = indexes.filter((index) => index > 0 && isPut(index))
    const asking = indexes.filter((index) => !rest.includes(index))
    const { budgetMs, firstMs } = this.#times
    await this.#work(batch, asking, { gone, firstMs })
    if (!isOver(gone)) {
      this.#deferral.record(batch.ready)
      if (this.#waits(0, batch)) return await this.#wait(batch, gone)
      await this.#work(batch, rest, { gone, firstMs: budgetMs })
      this.#deferral.record(batch.ready)
    }
    if (!isOver(gone)) return this.#prefix(batch, known)
    this.#keep(batch, 0)
    return []
  }

  /** Examines some updates of a batch side by side, until time runs out or nobody waits. */
  async #work(
    { updates, ready, failures }: Batch,
    indexes: number[],
    { gone, firstMs }: { gone: AbortSignal | undefined; firstMs: number },
  ): Promise<void> {
    if (indexes.length === 0) return
    const end = new AbortController()
    const arrival = { receivedAtMs: monotonicNow(), signal: end.signal }
    const one = async (found: FoundMessage): Promise<ExaminedMessage> => {
      const startedAtMs = monotonicNow()
      const finding = await this.#examine(found, arrival)
      return { found, finding, ms: monotonicNow() - startedAtMs }
    }
    const work: Promise<void>[] = []
    for (const index of indexes) {
      const messages = updates[index] ?? []
      const kept = this.#take(messages)
      const all = async (): Promise<void> => {
        try {
          const done = kept ?? (await Promise.all(messages.map(one)))
          // A failure after `end` was aborted is no result for the message.
          if (!end.signal.aborted) ready[index] = done
        } catch (error) {
          failures.set(index, error)
        }
      }
      work.push(all())
      // Scanning a full message needs a millisecond or two: other work runs in between.
      await nextTurn()
    }
    const { budgetMs } = this.#times
    const first = Promise.race([work[0], elapsed(firstMs, undefined, { ref: false })])
    const enough = Promise.all([first, elapsed(budgetMs, undefined, { ref: false })])
    await raceAbort(Promise.race([Promise.all(work), enough]), gone).catch((error: unknown) => {
      if (!isOver(gone)) throw error
    })
    end.abort()
  }

  /**
   * Tries a quick failure again: a person's message depends on the result.
   * @throws a failure of our own
   */
  async #examine(found: FoundMessage, arrival: Arrival): Promise<MessageFinding> {
    const startedAtMs = monotonicNow()
    const retries = this.#deferral.isWaitingFor([found]) ? [] : RETRY_AFTER_MS
    for (let tries = 0; ; tries++) {
      const waitMs = retries[tries]
      const finding = await examine(found, arrival, this.#parts).catch(unlessOurs)
      const isLate = monotonicNow() - startedAtMs > RETRY_WITHIN_MS || arrival.signal.aborted
      const isToTryAgain = finding === null || transientErrorIn(finding) === 'failed'
      if (!isToTryAgain || waitMs === undefined || isLate) {
        // something went wrong with this one alone: the others must not wait for it
        return finding ?? unexamined(found.message, 'failed')
      }
      await elapsed(waitMs, undefined, { ref: false })
    }
  }

  /** @param known which updates are of people about whom the service did not answer before */
  #prefix(batch: Batch, known: readonly boolean[]): ExaminedMessage[][] {
    const { updates, ready } = batch
    const found = ready.findIndex((done, index) => {
      if (done === undefined) return true
      // A failure of just now is tried once more as the first update of the next poll.
      return done.some(isTransient) && ((index > 0 && !known[index]) || this.#waits(index, batch))
    })
    const stop = found === -1 ? updates.length : found
    this.#keep(batch, stop)
    if (stop === 0) return this.#withoutFirst(batch)
    if (stop < updates.length) this.#leave(stop, batch)
    return ready.slice(0, stop).map((done) => done ?? [])
  }

  /** Nothing is finished: the first update is left at the service, or delivered as overdue. */
  #withoutFirst(batch: Batch): ExaminedMessage[][] {
    const [first = []] = batch.updates
    const isFailed = batch.failures.has(0)
    const tries = (this.#overdue.get(keyOf(first)) ?? 0) + (isFailed ? 0 : 1)
    if (tries >= OVERDUE_TRIES) {
      const late = (found: FoundMessage) => unexamined(found.message, 'deadline')
      return [first.map((found) => ({ found, finding: late(found), ms: 0 }))]
    }
    this.#overdue.set(keyOf(first), tries)
    this.#leave(0, batch)
    if (isFailed) throw batch.failures.get(0)
    return []
  }

  #waits(index: number, batch: Batch): boolean {
    if (!(batch.ready[index] ?? []).some(isTransient)) return false
    return this.#deferral.mayWait(index, keyOf(batch.updates[index] ?? []), batch)
  }

  /** Leaves the batch at the service; the pause keeps a bot that polls without waiting from spinning. */
  async #wait(batch: Batch, gone: AbortSignal | undefined): Promise<[]> {
    this.#keep(batch, 0)
    const pauseMs = this.#leave(0, batch)
    await raceAbort(elapsed(pauseMs, undefined, { ref: false }), gone).catch(() => undefined)
    return []
  }

  /** @returns how long to wait before the service is asked again, in ms */
  #leave(index: number, batch: Batch): number {
    const done = batch.ready[index]
    // behind others it may just not be finished yet
    const isOurs = batch.failures.has(index) || (done === undefined && index === 0)
    const why = isOurs ? 'ours' : transientErrorAmong(done ?? [])
    if (why !== null) batch.onLeft?.({ index, why })
    return why === 'ours' ? 0 : this.#deferral.wait(index, batch)
  }

  /** Keeps finished updates from an index on, for the next poll. */
  #keep({ updates, ready }: Batch, from: number): void {
    for (const [index, done] of ready.entries()) {
      if (index >= from && done !== undefined && !done.some(isTransient)) {
        this.#kept.set(keyOf(updates[index] ?? []), done)
      }
    }
  }

  /** Results kept from the previous poll, with the Messages of this poll. */
  #take(messages: FoundMessage[]): ExaminedMessage[] | null {
    // Computing the key costs as much as all other work for a full message on this thread.
    if (this.#kept.size === 0) return null
    const key = keyOf(messages)
    const kept = this.#kept.get(key)
    if (kept === undefined || kept.length !== messages.length) return null
    this.#kept.delete(key)
    if (kept.some((one) => isProtectedSince(one, this.#parts.guard))) return null
    return kept.map((judged, index) => ({ ...judged, found: messages[index] ?? judged.found }))
  }
}

/** A batch at work: `ready` is filled as its updates are finished. */
type Batch = BatchState &
  Pick<BatchRequest, 'onLeft'> & {
    ready: (ExaminedMessage[] | undefined)[]
    /** Failures of our own, by the index of the update that they happened to. */
    failures: Map<number, unknown>
  }

function keyOf(messages: FoundMessage[]): string {
  const hash = createHash('sha256')
  for (const { message, ...claimed } of messages) {
    const { armored, text } = message
    hash.update(JSON.stringify([claimed, armored, text]))
  }
  return hash.digest('base64')
}

/** Approximate bytes of an update's results in memory. */
function sizeOf(judged: ExaminedMessage[]): number {
  const sizes = judged.map(({ found: { message }, finding }) => {
    const { armored } = message
    const carried = typeof armored === 'string' ? armored.length : 0
    return 1024 + carried + (finding.kind === 'opened' ? 3 * finding.opened.text.length : 0)
  })
  return 1 + sizes.reduce((sum, size) => sum + size, 0)
}

const isOver = (gone: AbortSignal | undefined): boolean => gone?.aborted === true

const isTransient = ({ finding }: ExaminedMessage): boolean => transientErrorIn(finding) !== null

/** An unexpected error may be caused by the message; a failure of our own never is. */
function unlessOurs(error: unknown): null {
  if (isOwnFailure(error)) throw error
  if (isOutOfMemory(error)) throw new EngineUnavailableError('no memory is left', { cause: error })
  return null
}
