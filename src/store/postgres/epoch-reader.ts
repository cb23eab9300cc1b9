import { Listeners } from '../../util/listeners.ts'
import type { Mutex } from '../../util/scheduling.ts'
import { corrupt } from '../refusals.ts'
import { chunksOf } from '../records/rows.ts'
import { FOLLOWED_TABLES, type FollowedTable, type Reread } from '../store.ts'
import { rolledBack } from './failures.ts'
import { unblocked } from './locks.ts'
import type { Presence } from './open-lock.ts'
import { epochIn, type Database } from './schema.ts'
import type { RestingStore } from './resting-stores.ts'
import type { PostgresServer } from './server.ts'
import type { LastSeenTimeline } from './timeline.ts'

/** Keys that are given to one reading at most. */
const KEYS_AT_ONCE = 1000

export interface EpochReaderParts {
  server: PostgresServer
  schema: string
  db: Database
  presence: Presence
  /** Orders writes, and reading the writes of others. */
  order: Mutex
  /** Written whenever more was seen. */
  lastSeen: LastSeenTimeline
  /** Epoch when the store was opened: before anything was read. */
  epoch: number
}

/** How much of a store's history a sidecar has read, and how it reads the rest before it decides. */
export class EpochReader implements RestingStore {
  readonly #parts: EpochReaderParts
  readonly #rereads = new Map<FollowedTable, Reread[]>()
  readonly #behindChanges = new Listeners()
  /** Calls back when `isBehind` was found out anew. */
  readonly onBehind = this.#behindChanges.add
  asked: RestingStore['asked'] = null
  counted: RestingStore['counted'] = null
  #seen: number
  #isBehind = false
  #asking: Promise<void> = Promise.resolve()
  #nextAsking: Promise<void> | null = null

  constructor(parts: EpochReaderParts) {
    this.#parts = parts
    this.#seen = parts.epoch
  }

  /** The epoch up to which everything was read. */
  get seen(): number {
    return this.#seen
  }

  /** The database answers, and does not hold all that was read of it. */
  get isBehind(): boolean {
    return this.#isBehind
  }

  get schema(): string {
    return this.#parts.schema
  }

  /** Has changed rows of a table read again. */
  follow(table: FollowedTable, reread: Reread): void {
    this.#rereads.set(table, [...(this.#rereads.get(table) ?? []), reread])
  }

  /**
   * Reads everything that was committed before the call. Calls during a running query share the
   * next one.
   * @throws PostgresError `rolled-back`, `lost`; OperatorError `store-in-use`; an error of pg
   */
  learn(): Promise<void> {
    // the running query may be older than this decision: the next one is shared
    this.#nextAsking ??= this.#asking
      .then(() => {
        this.#nextAsking = null
        this.#asking = this.#ask()
        return this.#asking
      })
      .catch((error: unknown) => {
        this.#nextAsking = null
        this.#asking = Promise.resolve()
        this.asked = null
        throw error
      })
    return this.#nextAsking
  }

  async #ask(): Promise<void> {
    const { presence, server, schema } = this.#parts
    const seenBefore = this.seen
    let epoch = 0
    do {
      await presence.ensure()
      this.asked = { atMs: performance.now(), generation: server.session.generation }
      epoch = await readEpoch(server, schema)
    } while (!presence.isHeld)
    await this.learnUpTo({ seenBefore, epoch })
  }

  /**
   * Reads everything up to an epoch that the database gave.
   * @param o `seenBefore`: the epoch known before the query; `epoch`: its result
   * @throws PostgresError `rolled-back`, an error of pg
   */
  async learnUpTo({ seenBefore, epoch }: { seenBefore: number; epoch: number }): Promise<void> {
    const { order, db } = this.#parts
    this.#requireForward(seenBefore, epoch)
    // a promoted standby may have no new rows
    if (epoch === this.seen) return this.#note()
    await order.run(async () => {
      // writes of this process in the meantime are known already
      const { epoch: now } = await db.selectFrom('state').select('epoch').executeTakeFirstOrThrow()
      await this.#catchUp({ seen: Math.max(this.seen, epoch), now }, db)
    })
  }

  /**
   * Reads, in a write's transaction, everything before it. The caller has its turn in the order.
   * @param epoch of the write itself
   * @throws PostgresError `rolled-back`, an error of pg
   */
  async learnBefore(epoch: number, db: Database): Promise<void> {
    await this.#catchUp({ seen: this.seen, now: epoch - 1 }, db)
  }

  /** Notes a write of our own, once it is committed. */
  wrote(epoch: number): void {
    this.#seen = epoch
    this.#note()
  }

  async #catchUp({ seen, now }: { seen: number; now: number }, db: Database): Promise<void> {
    this.#requireForward(seen, now)
    if (now !== this.#seen) await this.#rereadChanged(db)
    this.wrote(now)
  }

  /** Reads the changes of others again. Nothing may be written by this process meanwhile. */
  async #rereadChanged(db: Database): Promise<void> {
    const changed = await db
      .selectFrom('changes')
      .select(['relation', 'key'])
      .where('epoch', '>', this.#seen)
      .execute()
    const byTable = Map.groupBy(changed, ({ relation }): string => relation)
    for (const table of FOLLOWED_TABLES) {
      const keys = byTable.get(table)?.map(({ key }) => key) ?? []
      for (const reread of this.#rereads.get(table) ?? []) {
        for (const some of chunksOf(keys, KEYS_AT_ONCE)) await reread(db, some)
      }
    }
  }

  #note(): void {
    const { lastSeen, server } = this.#parts
    lastSeen.note({ epoch: this.seen, timeline: server.timeline })
  }

  /** Refuses a database that does not hold all that was read of it, until it does. */
  #requireForward(seen: number, epoch: number): void {
    this.#isBehind = epoch < seen
    this.#behindChanges.emit()
    if (!this.#isBehind) return
    this.asked = null
    // it may be a former primary, and the address lead to another by now
    this.#parts.server.doubt()
    throw rolledBack()
  }
}

/** The epoch of a store, by its server's session. @throws PostgresError `lost`, an error of pg */
export async function readEpoch(server: PostgresServer, schema: string): Promise<number> {
  const [row] = await unblocked(() => server.ask<{ epoch: number }>(epochIn(schema)))
  if (row === undefined) throw corrupt('its state is gone')
  return row.epoch
}
