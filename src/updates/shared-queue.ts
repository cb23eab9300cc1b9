/**
 * One reading of the service's queue for several consumers, each with a cursor of its own. What all of
 * them have is confirmed at the service, and no other update.
 */
import { LIMITS, MOST_TIMES } from '../api/limits.ts'
import { BoundedMap } from '../util/bounded-map.ts'
import type { Clock } from '../util/clock.ts'
import { Listeners } from '../util/listeners.ts'
import { raceAbort } from '../util/race-abort.ts'
import { BOT, type Cursor, type Cursors } from './cursors.ts'
import type { PollTurn } from './poll-turn.ts'
import type { Delivered } from './update-batch.ts'
import { OPENED_MAX_AGE_MS, type PendingUpdate, type UpdatePoller } from './update-poller.ts'

/** Who gets updates. */
export interface Consumer {
  /** The name of its cursor; `BOT`: the bot. */
  name: string
  /** Whether it may see an update. */
  sees: (update: unknown) => boolean
}

/** A consumer that holds updates back for others, and how many wait for it. */
export interface Laggard {
  name: string
  count: number
}

/** Those that will lose updates before long, and those that just lost them. */
export interface Laggards {
  behind: readonly Laggard[]
  dropped: readonly Laggard[]
}

export interface SharedQueueParts {
  poller: Pick<
    UpdatePoller,
    'next' | 'given' | 'limit' | 'markDelivered' | 'confirm' | 'confirmsEach'
  >
  cursors: Cursors
  clock: Clock
  /** Null where no other sidecar can poll. */
  turns: Pick<PollTurn, 'tryTake' | 'take'> | null
  /** The consumer of a cursor; null: there is none any more. */
  consumerOf: (name: string) => Consumer | null
  /** The update that the bot's own webhook has; null: none, or the bot polls. */
  botHas: () => Delivered | null
  /** Ends all readings. */
  stopping: AbortSignal
}

/** Between readings without anything new, as while one consumer is behind: each costs an opening. */
const PAUSE_MS = { first: 1000, last: 8000 }
/** After another sidecar has asked for the turn. */
const GIVE_WAY_MS = 2000
/** A consumer that is behind by all that the service gives at a time stops the others. */
const BOUNDS = { warn: { percent: 45, ms: 600_000 }, drop: { percent: 90, ms: 6 * 3_600_000 } }
/** How long a consumer may be that far behind: so many may arrive at once. */
const FULL_MS = 60_000
/** Twice as many updates as a service may give at a time. */
const RECOGNIZED = 2 * MOST_TIMES * LIMITS.pollLimitMax

export class SharedQueue {
  readonly #parts: SharedQueueParts
  readonly #laggards = new Listeners<Laggards>()
  /** Calls back when these are others than before. */
  readonly onLaggards = this.#laggards.add
  readonly #shared = new Listeners()
  /** Calls back when somebody beside the bot begins to read. */
  readonly onShared = this.#shared.add
  /** The updates of the last reading, less those that all have. */
  #window: readonly PendingUpdate[] = []
  /** Updates of former answers, by `nameOf`: a service that forgot a confirmation repeats them. */
  readonly #given = new BoundedMap<string, true>(RECOGNIZED)
  #readAtMs = -Infinity
  #restUntilMs = -Infinity
  #pauseMs = PAUSE_MS.first / 2
  #reading: Promise<void> | null = null
  /** By consumer, the update that it is to get next, since when, and since when it is too far behind. */
  readonly #heads = new Map<string, { updateId: number; sinceMs: number; fullSinceMs: number }>()
  #warned = ''

  constructor(parts: SharedQueueParts) {
    this.#parts = parts
  }

  /** Whether anybody beside the bot reads. */
  get isShared(): boolean {
    return this.#parts.cursors.all.some(({ name }) => name !== BOT)
  }

  /**
   * Waits for updates, and gives those that a consumer is still to get, in order; none once the signal
   * was aborted.
   * @throws Refusal `postern_store_unwritable`
   */
  async next(consumer: Consumer, stop: AbortSignal): Promise<PendingUpdate[]> {
    const { clock } = this.#parts
    await this.join(consumer.name)
    while (!stop.aborted && !this.#parts.stopping.aborted) {
      const isFresh = clock.monotonicNow() - this.#readAtMs < OPENED_MAX_AGE_MS
      const found = isFresh ? this.#pendingOf(consumer) : []
      if (found.length > 0) return found
      this.#reading ??= this.#read().finally(() => (this.#reading = null))
      await raceAbort(this.#reading, stop).catch((error: unknown) => {
        if (!stop.aborted) throw error
      })
    }
    return []
  }

  /** Records that a consumer has an update, and all before it. @throws as `Cursors.save` */
  async record(name: string, delivered: Delivered): Promise<void> {
    await this.#parts.cursors.save(name, delivered).finally(() => this.#trim())
  }

  /**
   * Records what a client has: those of its updates that it was shown, at any sidecar, under numbers
   * below `offset`. @throws as `Cursors.moveBelow`
   */
  async recordGiven(name: string, offset: number): Promise<void> {
    await this.#parts.cursors.moveBelow(name, offset)
    this.#trim()
  }

  /** Records what the bot has: all updates below `offset`. @returns whether it has more than before */
  async recordBelow(consumer: Consumer, offset: number): Promise<boolean> {
    const isBelow = ({ delivered }: PendingUpdate): boolean => delivered.updateId < offset
    const last = this.#pendingOf(consumer).findLast(isBelow)
    if (last === undefined) return false
    await this.record(consumer.name, last.delivered)
    return true
  }

  /** Confirms at the service what all have. */
  async confirm(): Promise<void> {
    this.#trim()
    await this.#parts.poller.confirm()
  }

  /** Adds the cursor of a consumer that has none; it has had `given` updates before. */
  async join(name: string, given = 0): Promise<void> {
    const { cursors, consumerOf, botHas } = this.#parts
    const isNew = (one: string): boolean =>
      cursors.get(one) === undefined && consumerOf(one) !== null
    const wasShared = this.isShared
    // nothing is confirmed that the bot has not, from now on
    const bot = { name: BOT, delivered: botHas(), given: 0, shown: [] }
    for (const cursor of [bot, { name, delivered: null, given, shown: [] }]) {
      if (isNew(cursor.name)) await cursors.change(cursor.name, (known) => known ?? cursor)
    }
    if (!wasShared && this.isShared) this.#shared.emit()
  }

  async #read(): Promise<void> {
    const { poller, turns, cursors, clock, stopping } = this.#parts
    const restMs = this.#restUntilMs - clock.monotonicNow()
    if (restMs > 0) await clock.wait(restMs, stopping)
    const turn = turns && ((await turns.tryTake()) ?? (await turns.take(stopping)))
    if (turns !== null && turn === null) return
    const ends = turn === null ? [stopping] : [stopping, turn.signal, turn.asked]
    try {
      await cursors.fresh()
      await this.#removeGone()
      const before = this.#window.at(-1)?.delivered.updateId
      // one at a time would be the one that somebody is behind with
      if (before !== undefined) poller.confirmsEach = false
      const updates = await poller.next(AbortSignal.any(ends))
      if (turn?.isHeld === false) return
      const [first] = poller.given
      const isSameQueue = first !== undefined && this.#given.has(nameOf(first))
      const misled = isSameQueue ? [] : cursors.all.filter((one) => wentBack(one, poller.given))
      for (const { name } of misled) {
        await cursors.change(name, (known) => known && { ...known, delivered: null, shown: [] })
      }
      for (const one of poller.given) this.#given.set(nameOf(one), true)
      this.#window = updates
      this.#readAtMs = clock.monotonicNow()
      await this.#judge()
      this.#trim()
      const isNothingNew = before !== undefined && updates.at(-1)?.delivered.updateId === before
      this.#pauseMs = isNothingNew ? Math.min(this.#pauseMs * 2, PAUSE_MS.last) : PAUSE_MS.first / 2
      if (isNothingNew) this.#restUntilMs = this.#readAtMs + this.#pauseMs
      if (turn?.asked.aborted === true) this.#restUntilMs = this.#readAtMs + GIVE_WAY_MS
    } finally {
      await turn?.[Symbol.asyncDispose]()
    }
  }

  #pendingOf({ name, sees }: Consumer): PendingUpdate[] {
    const after = this.#parts.cursors.get(name)?.delivered?.updateId ?? -Infinity
    return this.#window.filter(
      ({ update, delivered }) => delivered.updateId > after && sees(update),
    )
  }

  #consumers(): Consumer[] {
    return this.#parts.cursors.all.flatMap(({ name }) => this.#parts.consumerOf(name) ?? [])
  }

  async #removeGone(): Promise<void> {
    const { cursors, consumerOf } = this.#parts
    for (const { name } of cursors.all) if (consumerOf(name) === null) await cursors.remove(name)
  }

  /** What every consumer has, or may not see, is confirmed by the next reading. */
  #trim(): void {
    const waits = new Set(this.#consumers().flatMap((one) => this.#pendingOf(one).slice(0, 1)))
    const end = this.#window.findIndex((update) => waits.has(update))
    const done = end === -1 ? this.#window : this.#window.slice(0, end)
    const last = done.at(-1)
    if (last === undefined) return
    this.#parts.poller.markDelivered(last.delivered)
    this.#window = this.#window.slice(done.length)
  }

  /** Warns of consumers that are behind, and drops those that stop the others; never the bot. */
  async #judge(): Promise<void> {
    const { clock, poller } = this.#parts
    const nowMs = clock.monotonicNow()
    const { limit } = poller
    const behind: Laggard[] = []
    const dropped: Laggard[] = []
    for (const consumer of this.#consumers()) {
      const { name } = consumer
      const [head] = this.#pendingOf(consumer)
      const known = this.#heads.get(name)
      this.#heads.delete(name)
      if (name === BOT || head === undefined) continue
      const { updateId } = head.delivered
      // also those behind it that it may not see
      const count = this.#window.length - this.#window.indexOf(head)
      const { warn, drop } = BOUNDS
      const fullSinceMs = count * 100 < drop.percent * limit ? nowMs : (known?.fullSinceMs ?? nowMs)
      const sinceMs = known?.updateId === updateId ? known.sinceMs : nowMs
      const isLost = nowMs - sinceMs >= drop.ms || nowMs - fullSinceMs >= FULL_MS
      if (!isLost) this.#heads.set(name, { updateId, sinceMs, fullSinceMs })
      if (isLost) dropped.push({ name, count })
      else if (count * 100 >= warn.percent * limit || nowMs - sinceMs >= warn.ms)
        behind.push({ name, count })
    }
    for (const { name } of dropped) await this.#parts.cursors.remove(name)
    const warned = behind.map(({ name }) => name).join()
    if (warned !== this.#warned || dropped.length > 0) this.#laggards.emit({ behind, dropped })
    this.#warned = warned
  }
}

const nameOf = ({ updateId, mark }: Delivered): string => `${updateId} ${mark}`

/**
 * A service that lost its data begins its ids anew: what it gives then is new under any id.
 * @param given with those that were not opened: the update of the cursor may be among them
 */
function wentBack({ delivered }: Cursor, given: readonly Delivered[]): boolean {
  const newest = given.at(-1)?.updateId
  if (newest === undefined || delivered === null) return false
  const same = given.find(({ updateId }) => updateId === delivered.updateId)
  return same === undefined ? delivered.updateId > newest : same.mark !== delivered.mark
}
