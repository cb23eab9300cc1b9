/**
 * The one reader of the service's queue, for polls of the bot's and for those of our own: it records
 * what a poll confirms, polls, and opens.
 */
import type { Limits } from '../api/limits.ts'
import type { Sightings, UpdateHead } from '../kernel/index.ts'
import { NoResponseError, TooLargeAnswerError } from '../errors.ts'
import type { Store } from '../store/store.ts'
import type { Incoming } from '../translate/incoming.ts'
import type { Answer, Upstream } from '../service/client.ts'
import type { Backlog } from './backlog.ts'
import type { PollTurn, Turn } from './poll-turn.ts'
import type { PollWatch } from './poll-watch.ts'
import { afterDelivered, type Delivered } from './update-batch.ts'

export interface QueueReaderParts {
  upstream: Pick<Upstream, 'poll'>
  sightings: Pick<Sightings, 'readUpdates'>
  /** Null when the sidecar holds no key: updates then pass unchanged. */
  incoming: Pick<Incoming, 'open'> | null
  polls: PollWatch
  backlog: Pick<Backlog, 'recordPoll'>
  store: Pick<Store, 'fresh'>
  /** Null where no other sidecar can poll. */
  turns: Pick<PollTurn, 'tryTake' | 'take' | 'isWanted'> | null
  /** Limits of `GET /me`. */
  limits: () => Pick<Limits, 'pollTimeoutMaxS' | 'pollLimitMax'>
  /**
   * Called before updates are confirmed, with the id below which all of them are.
   * @throws Refusal `postern_store_unwritable`: then nothing is confirmed
   */
  recordConfirmed: (below: number) => Promise<void>
  /** Called when the bot is about to confirm them, and nobody else seems to get updates. */
  expectConfirmed: (below: number) => void
  /** Called after each poll, with the service's code, or null when it gave updates. */
  onPolled: (code: string | null) => void
}

/** A poll as it is asked for. */
export interface AskedPoll {
  /** Without the question mark; null: one of our own. */
  query: string | null
  /** All updates below it are confirmed; 0: none. */
  below: number
  limit: number
  timeoutSeconds: number
}

/** How a poll is made. */
export interface ReadBy {
  /** Ends it. */
  signal: AbortSignal
  /** The update that its caller has: it and all before it are not opened again. */
  after?: Delivered | null
}

/** What a poll gave. Where nothing was opened, the answer of the service counts. */
export interface QueueReading {
  answer: Answer
  /** `ended`: by another poll; `replaced`: by that of another sidecar of ours, to which it gives way. */
  how: 'refused' | 'ended' | 'replaced' | 'read'
  /** Opened, in order. */
  updates: unknown[]
  /** The same as the service gave them. */
  heads: readonly UpdateHead[]
  /** All updates of the answer, with delivered ones and those that were not opened. */
  given: readonly UpdateHead[]
  /** The updates differ from the service's answer. */
  changed: boolean
  /** The most updates that the answer could have. */
  limit: number
}

/** The longest poll, also where the service accepts longer ones: networks drop connections at rest. */
export const LONGEST_POLL_S = 300

/** The turn once it is ours; null when it does not become ours. */
type Taking = Promise<Pick<Turn, 'isHeld'> | null>

/** The turn of a sidecar that is alone, or whose caller has it. */
const HELD: Taking = Promise.resolve({ isHeld: true })

export class QueueReader {
  readonly #parts: QueueReaderParts
  /** The most updates that an answer of late was small enough with. */
  #limit = Infinity
  /** The turn of a poll that has begun. */
  #first: Promise<Turn | null> | null = null
  #nextLoss = new AbortController()
  #nextWake = new AbortController()
  /** Updates that were delivered and that the service still counts. */
  unconfirmedCount = 0

  constructor(parts: QueueReaderParts) {
    this.#parts = parts
  }

  /** The longest poll, and the most updates of one, as the service reports them. */
  get most(): { timeoutSeconds: number; limit: number } {
    const { pollTimeoutMaxS, pollLimitMax } = this.#parts.limits()
    return { timeoutSeconds: Math.min(pollTimeoutMaxS, LONGEST_POLL_S), limit: pollLimitMax }
  }

  /**
   * Call it before a poll: without the store's database, updates cannot be opened.
   * @param below of a poll of the bot's that will follow, which this prepares in the same round trip;
   *   call `drop` where it does not follow
   * @returns aborts within two seconds of a loss of the database; updates then stay at the service
   * @throws Refusal `postern_store_unwritable` while the database is out of reach
   */
  async begin(below: number | null = null): Promise<AbortSignal> {
    const { signal } = this.#nextLoss
    const { store, turns, expectConfirmed } = this.#parts
    if (below !== null && turns !== null) {
      expectConfirmed(below)
      this.#first ??= turns.tryTake()
      this.#first.catch(() => undefined)
    }
    await store.fresh()
    return signal
  }

  /** Gives a turn back that no poll has used. */
  drop(): void {
    const first = this.#first
    this.#first = null
    void first?.then((turn) => turn?.[Symbol.asyncDispose]()).catch(() => undefined)
  }

  /** The database is out of reach. */
  lose(): void {
    this.#nextLoss.abort()
    this.#nextLoss = new AbortController()
  }

  /** Aborts when something has changed at the service: a wait for that ends. */
  get woken(): AbortSignal {
    return this.#nextWake.signal
  }

  wake(): void {
    this.#nextWake.abort()
    this.#nextWake = new AbortController()
  }

  /**
   * Polls once. One of the bot's begins once it has the turn or has asked for it in vain, which shows
   * the other sidecar whose poll it ends at the service; that one then gives the turn back. For one of
   * our own the caller has the turn.
   * @throws NoResponseError; Refusal `postern_store_unwritable`: nothing was confirmed
   */
  async read(asked: AskedPoll, by: ReadBy): Promise<QueueReading> {
    const { turns } = this.#parts
    if (turns === null || asked.query === null) return await this.#poll(asked, by)
    const ended = new AbortController()
    const first = this.#first ?? turns.tryTake()
    this.#first = null
    const signal = AbortSignal.any([by.signal, ended.signal])
    const taking = first.then((turn) => turn ?? turns.take(signal))
    taking.catch(() => undefined)
    try {
      return await this.#poll(asked, by, taking, first)
    } finally {
      ended.abort()
      void taking.then((turn) => turn?.[Symbol.asyncDispose]()).catch(() => undefined)
    }
  }

  /** Confirms without a poll for updates. @returns whether the service has it; never throws */
  async confirm(below: number, signal: AbortSignal): Promise<boolean> {
    const { recordConfirmed, upstream } = this.#parts
    const request = { query: `offset=${below}&limit=1`, timeoutSeconds: 0, signal } as const
    const answer = await recordConfirmed(below)
      .then(() => upstream.poll({ ...request, whose: 'own' }))
      .catch(() => null)
    return answer?.envelope.ok === true
  }

  async #poll(
    asked: AskedPoll,
    by: ReadBy,
    taking = HELD,
    first: Taking = HELD,
  ): Promise<QueueReading> {
    const { polls, turns, backlog, incoming, recordConfirmed } = this.#parts
    await Promise.all([asked.below > 0 && recordConfirmed(asked.below), first.catch(() => null)])
    const watched = polls.begin(asked.timeoutSeconds)
    const { answer, heads, limit } = await this.#call(asked, by.signal)
    const nothing = { answer, updates: [], heads: [], given: [], changed: false, limit }
    if (heads === null) return { ...nothing, how: 'refused' }
    if (watched.wasTakenOver(heads.length)) {
      const isReplaced = (await turns?.isWanted()) === true
      watched.takenOver(isReplaced ? 'replica' : undefined)
      return { ...nothing, how: isReplaced ? 'replaced' : 'ended' }
    }
    backlog.recordPoll(heads, limit)
    const left = afterDelivered(heads, by.after ?? null)
    const read = {
      answer,
      how: 'read' as const,
      updates: [...left],
      heads: left,
      given: heads,
      limit,
    }
    if (incoming === null || left.length === 0) return { ...read, changed: false }
    const turn = await taking
    const lost = { ...nothing, how: 'read', changed: true } as const
    if (turn?.isHeld !== true) return lost
    const request = { gone: by.signal, hasMore: heads.length >= limit }
    const opened = await incoming.open(left, request)
    return turn.isHeld ? { ...read, ...opened } : lost
  }

  /** @returns also the updates, of which there can be `limit`; null: the service refused */
  async #call(asked: AskedPoll, signal: AbortSignal) {
    const { upstream, onPolled, sightings } = this.#parts
    const { timeoutSeconds } = asked
    const whose = asked.query === null ? 'own' : 'bot'
    for (;;) {
      const limit = Math.min(asked.limit, this.#limit)
      try {
        const query = queryOf(asked, limit)
        const answer = await upstream.poll({ query, timeoutSeconds, signal, whose })
        const { envelope } = answer
        onPolled(envelope.ok ? null : envelope.error.code)
        const heads = envelope.ok ? sightings.readUpdates(envelope.result) : null
        if (heads !== null) this.#limit *= 2
        return { answer, heads, limit }
      } catch (error) {
        if (!isNonsense(error)) throw error
        // fewer updates may make a smaller answer, or one that makes sense
        this.#limit = Math.max(1, Math.ceil(limit / 2))
        if (!(error instanceof TooLargeAnswerError) || limit <= 1) throw error
      }
    }
  }
}

/** Whether an error is an answer of the service that makes no sense, or is too large. */
export const isNonsense = (error: unknown): boolean =>
  error instanceof NoResponseError && error.code === 'postern_upstream_invalid'

/**
 * The bot's own query stays as it is, but for a limit of which the answer would be too large, and for
 * a wait that the service accepts and the door does not have.
 */
function queryOf(asked: AskedPoll, limit: number): string {
  const { query, below, timeoutSeconds } = asked
  if (query === null) {
    return `${below > 0 ? `offset=${below}&` : ''}limit=${limit}&timeout=${timeoutSeconds}`
  }
  const names = new URLSearchParams(query)
  const isTooLong =
    timeoutSeconds === LONGEST_POLL_S && Number(names.get('timeout')) > LONGEST_POLL_S
  if (limit === asked.limit && !isTooLong) return query
  if (limit !== asked.limit) names.set('limit', String(limit))
  if (isTooLong) names.set('timeout', String(timeoutSeconds))
  return names.toString()
}
