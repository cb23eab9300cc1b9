/** Which of the bots that several sidecars serve each of them delivers for. */
import { REAL_CLOCK, type Clock } from './clock.ts'

/** A turn that nobody took for so long is taken by anybody, whatever their part. */
const GRACE_MS = 3000
/** One that was taken so is kept for a while, longer each time: the others may not deliver for it. */
const KEPT_MS = { first: 15_000, last: 600_000 }

/** Who has the turn of each bot, and who could. Sidecars are known by numbers. */
export interface Board {
  /** This sidecar. */
  self: number
  /** By bot; `reader` is null where nobody has the turn. */
  stores: ReadonlyMap<string, { sidecars: readonly number[]; reader: number | null }>
}

/** What a sidecar is to do now. */
export interface TurnPlan {
  take: ReadonlySet<string>
  give: ReadonlySet<string>
}

/** The part of one bot in the plans. */
export interface SpreadTurn extends Disposable {
  /** Whether this sidecar is to take the turn, if it is free. */
  mayTake(): Promise<boolean>
  /** Whether another one is to have it. */
  mustGive(): Promise<boolean>
}

/**
 * Divides turns evenly: each sidecar has at most as many as there are for each, rounded up. What is
 * free it takes up to that, what it has beyond it gives to one that has fewer.
 * @param bots the bots that this sidecar delivers for, in an order that is the same everywhere
 * @param o `orphans`: free for so long that their sidecars do not seem to take them; `kept`: not
 *   given away
 */
export function planTurns(
  { self, stores }: Board,
  bots: readonly string[],
  { orphans, kept }: { orphans: ReadonlySet<string>; kept: ReadonlySet<string> },
): TurnPlan {
  const all = bots.flatMap((bot) => {
    const store = stores.get(bot)
    return store === undefined ? [] : [{ bot, ...store }]
  })
  const parts = all.reduce((sum, { sidecars }) => sum + 1 / Math.max(1, sidecars.length), 0)
  // a third and a third and a third is a little more or less than one
  const most = Math.ceil(parts - 1e-6)
  const had = Map.groupBy(all, ({ reader }) => reader)
  const countOf = (sidecar: number): number => had.get(sidecar)?.length ?? 0
  const free = had.get(null) ?? []
  const ours = had.get(self) ?? []
  const order = [...new Set(all.flatMap(({ sidecars }) => sidecars))].toSorted((a, b) => a - b)
  // each begins elsewhere, so that no two take the same
  const rank = Math.max(0, order.indexOf(self))
  const begin = free.length === 0 ? 0 : (rank * most) % free.length
  const next = [...free.slice(begin), ...free.slice(0, begin)]
  const take = next.slice(0, Math.max(0, most - ours.length))
  const give = ours.filter(
    ({ bot, sidecars }) => !kept.has(bot) && sidecars.some((one) => countOf(one) < most),
  )
  return {
    take: new Set([...take.map(({ bot }) => bot), ...orphans]),
    give: new Set(give.slice(0, Math.max(0, ours.length - most)).map(({ bot }) => bot)),
  }
}

/** The turns to deliver of all bots of a process that shares them with others. */
export class DeliverySpread {
  readonly #look: () => Promise<Board>
  readonly #clock: Clock
  readonly #bots = new Map<string, SpreadTurn>()
  /** Since when each is free, by the monotonic clock. */
  readonly #freeSinceMs = new Map<string, number>()
  readonly #kept = new Map<string, { untilMs: number; forMs: number }>()
  #latest: { board: Board; plan: TurnPlan } | null = null

  /**
   * @param look reads how things are; those that ask within a second may get the same object
   */
  constructor(look: () => Promise<Board>, clock: Clock = REAL_CLOCK) {
    this.#look = look
    this.#clock = clock
  }

  /** Adds a bot that has a webhook, until it is disposed of. */
  join(bot: string): SpreadTurn {
    const turn: SpreadTurn = {
      mayTake: async () => (await this.#plan()).take.has(bot),
      mustGive: async () => (await this.#plan()).give.has(bot),
      // another may have joined in its place already
      [Symbol.dispose]: () => {
        if (this.#bots.get(bot) === turn) this.#leave(bot)
      },
    }
    this.#leave(bot)
    this.#bots.set(bot, turn)
    return turn
  }

  #leave(bot: string): void {
    this.#bots.delete(bot)
    this.#freeSinceMs.delete(bot)
    this.#kept.delete(bot)
    this.#latest = null
  }

  async #plan(): Promise<TurnPlan> {
    const board = await this.#look()
    if (this.#latest?.board === board) return this.#latest.plan
    const nowMs = this.#clock.monotonicNow()
    const orphans = this.#findOrphans(board, nowMs)
    for (const bot of orphans) this.#keep(bot, nowMs)
    const kept = [...this.#kept].flatMap(([bot, { untilMs }]) => (untilMs > nowMs ? [bot] : []))
    const bots = [...this.#bots.keys()].toSorted()
    const plan = planTurns(board, bots, { orphans, kept: new Set(kept) })
    this.#latest = { board, plan }
    return plan
  }

  #keep(bot: string, nowMs: number): void {
    const before = this.#kept.get(bot)
    if (before !== undefined && before.untilMs > nowMs) return
    const forMs = Math.min((before?.forMs ?? KEPT_MS.first / 2) * 2, KEPT_MS.last)
    this.#kept.set(bot, { untilMs: nowMs + forMs, forMs })
  }

  #findOrphans({ self, stores }: Board, nowMs: number): Set<string> {
    const orphans = new Set<string>()
    for (const bot of this.#bots.keys()) {
      const store = stores.get(bot)
      if (store?.reader === null) {
        const sinceMs = this.#freeSinceMs.get(bot) ?? nowMs
        this.#freeSinceMs.set(bot, sinceMs)
        if (nowMs - sinceMs >= GRACE_MS) orphans.add(bot)
        continue
      }
      this.#freeSinceMs.delete(bot)
      // another one delivers for it after all
      if (store !== undefined && store.reader !== self) this.#kept.delete(bot)
    }
    return orphans
  }
}
