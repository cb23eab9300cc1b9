/** A batch of updates examined side by side, of which the longest finished prefix is answered. */
import { createHash } from 'node:crypto'
import { setTimeout as elapsed } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { raceAbort } from '../util/race-abort.ts'
import { nextTurn } from '../util/time-slice.ts'
import { monotonicNow } from '../fresh-cache.ts'
import { examine, type Arrival, type Examined, type ExamineParts } from './examine.ts'
import type { FoundMessage } from './find-messages.ts'

/** A Message with what was found out, and in how many ms. */
export interface Judgeable {
  found: FoundMessage
  examined: Examined
  ms: number
}

/** How long a batch may take. */
export interface BatchTimes {
  /** For all of it; what is not finished then comes with the next poll. */
  budgetMs: number
  /** For its first update, which must not hold up the queue for ever. */
  firstMs: number
  /** How long a first update waits for calls that are used up, over several polls. */
  patienceMs: number
}

export const BATCH_TIMES: BatchTimes = { budgetMs: 15_000, firstMs: 35_000, patienceMs: 180_000 }

/** What was finished too late is kept for the next poll, which asks for it again. */
const KEPT_UPDATES = 200
const KEPT_MS = 120_000
/** Armored, opened, and as bytes for the signatures: a message can take a megabyte. */
const KEPT_BYTES = 64 * 2 ** 20
/** Waits before calls that failed are made again, and until when after the first. */
const RETRY_AFTER_MS = [200, 800]
const RETRY_WITHIN_MS = 5000
/** Before an empty answer, so that a bot that polls without waiting does not spin. */
const BUSY_PAUSE_MS = 1000

export class Batches {
  readonly #parts: ExamineParts
  readonly #times: BatchTimes
  readonly #kept = new LRUCache<string, Judgeable[]>({
    max: KEPT_UPDATES,
    ttl: KEPT_MS,
    maxSize: KEPT_BYTES,
    sizeCalculation: sizeOf,
  })
  readonly #waitingSince = new LRUCache<string, number>({ max: KEPT_UPDATES })

  constructor(parts: ExamineParts, times: BatchTimes = BATCH_TIMES) {
    this.#parts = parts
    this.#times = times
  }

  /**
   * Examines the Messages of updates in order of arrival.
   * @param updates one list of Messages an update, oldest first
   * @param gone ends the work when nobody waits for it any more; what is finished by then is kept
   * @returns the longest finished prefix; never empty for a batch that is not, unless nobody waits,
   *   or our calls to the service are used up and waiting for more loses nothing
   */
  async examine(updates: FoundMessage[][], gone?: AbortSignal): Promise<Judgeable[][]> {
    if (updates.length === 0 || isOver(gone)) return []
    const end = new AbortController()
    const arrival = { receivedAtMs: monotonicNow(), signal: end.signal }
    const ready: (Judgeable[] | undefined)[] = updates.map(() => undefined)
    const one = async (found: FoundMessage): Promise<Judgeable> => {
      const startedAtMs = monotonicNow()
      const examined = await this.#examine(found, arrival)
      return { found, examined, ms: monotonicNow() - startedAtMs }
    }
    const work: Promise<void>[] = []
    for (const [index, messages] of updates.entries()) {
      const kept = this.#take(messages)
      const all = async (): Promise<void> => {
        ready[index] = kept ?? (await Promise.all(messages.map(one)))
      }
      work.push(all())
      // Walking a full message takes a millisecond or two: others get their turn in between.
      await nextTurn()
    }
    const { budgetMs, firstMs } = this.#times
    const first = Promise.race([work[0], elapsed(firstMs, undefined, { ref: false })])
    const enough = Promise.all([first, elapsed(budgetMs, undefined, { ref: false })])
    await raceAbort(Promise.race([Promise.all(work), enough]), gone).catch((error: unknown) => {
      if (!isOver(gone)) throw error
    })
    end.abort()
    if (!isOver(gone)) return await this.#prefix(updates, ready)
    this.#keep(updates, ready)
    return []
  }

  /** A call that failed quickly is tried again: its answer decides on a person's message. */
  async #examine(found: FoundMessage, arrival: Arrival): Promise<Examined> {
    const startedAtMs = monotonicNow()
    for (const waitMs of [...RETRY_AFTER_MS, null]) {
      const examined = await examine(found, arrival, this.#parts).catch(() => failed(found))
      const isLate = monotonicNow() - startedAtMs > RETRY_WITHIN_MS || arrival.signal.aborted
      if (examined.passing !== 'failed' || waitMs === null || isLate) return examined
      await elapsed(waitMs, undefined, { ref: false })
    }
    return failed(found)
  }

  async #prefix(
    updates: FoundMessage[][],
    ready: (Judgeable[] | undefined)[],
  ): Promise<Judgeable[][]> {
    const stop = ready.findIndex((done) => done === undefined || done.some(isPassing))
    if (stop === -1) return ready.map((done) => done ?? [])
    this.#keep(updates.slice(stop), ready.slice(stop))
    if (stop > 0) return ready.slice(0, stop).map((done) => done ?? [])
    const [first] = ready
    if (first === undefined) return [(updates[0] ?? []).map(overdue)]
    if (!this.#mayWait(first, updates[0] ?? [])) return [first]
    await elapsed(BUSY_PAUSE_MS, undefined, { ref: false })
    return []
  }

  /** Keeps what is finished for the next poll. */
  #keep(updates: FoundMessage[][], ready: (Judgeable[] | undefined)[]): void {
    for (const [index, done] of ready.entries()) {
      if (done !== undefined && !done.some(isPassing)) {
        this.#kept.set(keyOf(updates[index] ?? []), done)
      }
    }
  }

  /** Calls that are used up come back within a minute: until then nothing need be withheld. */
  #mayWait(first: Judgeable[], messages: FoundMessage[]): boolean {
    if (!first.some(({ examined }) => examined.passing === 'busy')) return false
    const key = keyOf(messages)
    const since = this.#waitingSince.get(key) ?? monotonicNow()
    this.#waitingSince.set(key, since)
    return monotonicNow() - since < this.#times.patienceMs
  }

  /** What was examined as a readable chat's, of a chat that is protected by now. */
  #isProtectedSince({ found, examined }: Judgeable): boolean {
    const { kind } = examined.finding
    const chats = [found.chatId, found.updateChatId].filter((id) => id !== null)
    const wasReadable = kind === 'readable' || kind === 'untouched'
    return wasReadable && chats.some((id) => this.#parts.guard.mustSeal(id))
  }

  /** What was examined for the poll before, put into this poll's objects. */
  #take(messages: FoundMessage[]): Judgeable[] | null {
    // The key takes as long as all else that happens to a full message on this thread.
    if (this.#kept.size === 0) return null
    const key = keyOf(messages)
    const kept = this.#kept.get(key)
    if (kept === undefined || kept.length !== messages.length) return null
    this.#kept.delete(key)
    if (kept.some((one) => this.#isProtectedSince(one))) return null
    return kept.map((judged, index) => ({ ...judged, found: messages[index] ?? judged.found }))
  }
}

function keyOf(messages: FoundMessage[]): string {
  const hash = createHash('sha256')
  for (const { message, ...claimed } of messages) {
    const { armored, text } = message
    hash.update(JSON.stringify([claimed, armored, text]))
  }
  return hash.digest('base64')
}

/** Bytes that what was found out of an update takes, about. */
function sizeOf(judged: Judgeable[]): number {
  const sizes = judged.map(({ found: { message }, examined: { finding } }) => {
    const { armored } = message
    const carried = typeof armored === 'string' ? armored.length : 0
    return 1024 + carried + (finding.kind === 'opened' ? 3 * finding.opened.text.length : 0)
  })
  return 1 + sizes.reduce((sum, size) => sum + size, 0)
}

const isOver = (gone: AbortSignal | undefined): boolean => gone?.aborted === true

const isPassing = ({ examined }: Judgeable): boolean => examined.passing !== null

/** Something went wrong with this one alone: the others must not wait for it. */
function failed({ message }: FoundMessage, reason: 'deadline' | 'failed' = 'failed'): Examined {
  return typeof message['armored'] === 'string'
    ? { finding: { kind: 'closed', verdict: 'damaged', reason }, passing: null }
    : { finding: { kind: 'plain', verdict: 'mode-unknown' }, passing: null }
}

function overdue(found: FoundMessage): Judgeable {
  return { found, examined: failed(found, 'deadline'), ms: 0 }
}
