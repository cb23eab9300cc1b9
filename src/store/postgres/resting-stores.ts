/**
 * The stores of bots at rest, for which nothing is decided: how a process finds out, with one query
 * for many of them, whose epoch others have raised, and how many processes have each of them open.
 */
import { IS_READ_ONLY, LIVING, presenceOf, quoted } from './schema.ts'
import type { TurnServer } from './turn-waits.ts'

/** How old an epoch may be, ms: at least, and for each store of the process. */
const MAX_AGE_MS = 5000
const MAX_AGE_MS_PER_STORE = 50
/** Stores in one query, each with locks of its two tables and of their indexes. */
const AT_ONCE = 50

export interface RestingStore {
  readonly schema: string
  /** The epoch up to which everything was read. */
  readonly seen: number
  /** When the epoch was asked for, and by which connection; null: others have written since. */
  asked: { atMs: number; generation: number } | null
  /** How many processes had it open; null before that is known. */
  counted: { atMs: number; sidecars: number } | null
}

export class RestingStores {
  readonly #server: TurnServer
  readonly #stores = new Set<RestingStore>()
  readonly #asking = new Map<RestingStore, Promise<void>>()
  /** Adds a store to those that are asked for together. */
  readonly add = this.#stores.add.bind(this.#stores)
  readonly delete = this.#stores.delete.bind(this.#stores)

  constructor(server: TurnServer) {
    this.#server = server
  }

  /**
   * Whether a store has nothing to read. When its epoch was asked for too long ago, this asks for
   * those of the stores with the oldest ones, in one query; a failure counts as something to read.
   */
  async isUpToDate(one: RestingStore): Promise<boolean> {
    if ((this.#ageOf(one) ?? 0) > this.#maxAgeMs)
      await this.#askWithOlder(one).catch(() => undefined)
    return this.#ageOf(one) !== null
  }

  /**
   * How many processes have a store open, as of the last time that is allowed for its epoch.
   * @throws PostgresError `lost`, an error of pg
   */
  async countSidecars(one: RestingStore): Promise<number> {
    if (performance.now() - (one.counted?.atMs ?? -Infinity) > this.#maxAgeMs)
      await this.#askWithOlder(one)
    return Math.max(1, one.counted?.sidecars ?? 1)
  }

  get #maxAgeMs(): number {
    return Math.max(MAX_AGE_MS, this.#stores.size * MAX_AGE_MS_PER_STORE)
  }

  /** Asks for a store unless that is under way, and for those that are at least half as old. */
  async #askWithOlder(one: RestingStore): Promise<void> {
    const running = this.#asking.get(one)
    if (running !== undefined) return await running
    const atMs = performance.now()
    const ageOf = ({ counted }: RestingStore): number => atMs - (counted?.atMs ?? -Infinity)
    const oldest = [...this.#stores]
      .filter((other) => !this.#asking.has(other) && ageOf(other) > this.#maxAgeMs / 2)
      .toSorted((a, b) => ageOf(b) - ageOf(a))
      .slice(0, AT_ONCE)
    const answer = this.#ask(oldest, { atMs, generation: this.#server.session.generation })
    for (const other of oldest) this.#asking.set(other, answer)
    await answer
  }

  async #ask(stores: RestingStore[], asked: { atMs: number; generation: number }): Promise<void> {
    const questions = stores.map(
      ({ schema }, n) => `SELECT ${n} AS n, epoch, ${IS_READ_ONLY}, (SELECT count(*)::int
        FROM ${presenceOf(schema)} WHERE process IN (SELECT process FROM living)) AS sidecars
        FROM ${quoted(schema)}.state`,
    )
    const text = `WITH living AS MATERIALIZED (${LIVING}) ${questions.join(' UNION ALL ')}`
    type Row = { n: number; epoch: number; sidecars: number }
    let found = new Map<number, Row>()
    try {
      found = new Map((await this.#server.ask<Row>(text)).map((row) => [row.n, row]))
    } finally {
      for (const [n, one] of stores.entries()) {
        const row = found.get(n)
        this.#asking.delete(one)
        one.asked = row?.epoch === one.seen ? asked : null
        one.counted = row === undefined ? null : { ...asked, sidecars: row.sidecars }
      }
    }
  }

  /** Since the epoch was asked for, in ms; null when the store is to ask by itself. */
  #ageOf({ asked }: RestingStore): number | null {
    const { isConnected, generation } = this.#server.session
    if (!isConnected || asked?.generation !== generation) return null
    return performance.now() - asked.atMs
  }
}
