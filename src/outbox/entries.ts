/** The entries of the outbox in the store: their words rest under the protection, all else in a table. */
import type { Kysely } from 'kysely'
import { Refusal } from '../errors.ts'
import type { Schema, SchemaRow } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import { Listeners } from '../util/listeners.ts'

/**
 * `waiting` for its time, its turn or the service; `sent`; `refused` with a code, and set aside;
 * `held`, since its chat has become readable.
 */
export type OutboxState = 'waiting' | 'sent' | 'refused' | 'held'

/** A send or an edit that is made later, without its words. Times are in ms since the epoch. */
export interface OutboxEntry {
  /** In the order in which they were given. */
  number: number
  /** A UUID; of a send its `sendId`. */
  id: string
  state: OutboxState
  chatId: number
  /** The message that is edited; null: a send. */
  messageId: string | null
  /** It was given for a chat of sealed words, or of an unknown mode. */
  isForSealed: boolean
  /** The client that gave it; null: the bot. */
  client: string | null
  createdAtMs: number
  dueAtMs: number
  bytes: number
  /** Why it was refused or is held. */
  code: string | null
  /** The message at the service, once it was sent. */
  sentId: number | null
  settledAtMs: number | null
  /** The bot has heard how it was settled. */
  isHeard: boolean
}

/** An entry before it has a number. */
export type NewEntry = Pick<
  OutboxEntry,
  'id' | 'chatId' | 'messageId' | 'isForSealed' | 'client' | 'createdAtMs' | 'dueAtMs'
>

/** At most so many entries, and bytes of those with words; the next is refused. */
const MOST = { entries: 10_000, bytes: 64 * 2 ** 20 }
/** An entry that is settled is shown for so long. */
const SHOWN_MS = 72 * 3_600_000
const PRUNE_EVERY = 100
const FULL_SECONDS = 60

const wordsOf = (id: string): string => `outbox/${id}`

export class OutboxEntries {
  readonly #store: Store
  readonly #entries = new Map<string, OutboxEntry>()
  readonly #changes = new Listeners()
  /** Calls back when there may be something to send. */
  readonly onChange = this.#changes.add
  #untilPrune = 0

  private constructor(store: Store) {
    this.#store = store
  }

  static async load(store: Store): Promise<OutboxEntries> {
    const entries = new OutboxEntries(store)
    store.follow('outbox', async (db, ids) => {
      await entries.#read(db, ids)
      entries.#changes.emit()
    })
    await store.read((db) => entries.#read(db, null))
    return entries
  }

  async #read(db: Kysely<Schema>, ids: readonly string[] | null): Promise<void> {
    const all = db.selectFrom('outbox').selectAll()
    const rows = await (ids === null ? all : all.where('id', 'in', ids)).execute()
    for (const id of ids ?? []) this.#entries.delete(id)
    for (const row of rows) this.#entries.set(row.id, entryOf(row))
  }

  /** In the order in which they were given. */
  get all(): OutboxEntry[] {
    return [...this.#entries.values()].sort((a, b) => a.number - b.number)
  }

  get(id: string): OutboxEntry | undefined {
    return this.#entries.get(id)
  }

  /**
   * Adds an entry; one that is there under its id is given as it is.
   * @param words the body of the call, JSON
   * @throws Refusal `postern_outbox_full`, `postern_locked`, `postern_store_unwritable`
   */
  async add(entry: NewEntry, words: Buffer): Promise<OutboxEntry> {
    const added = await this.#store.write(async (db) => {
      await this.#read(db, [entry.id])
      const known = this.#entries.get(entry.id)
      if (known !== undefined) return known
      await this.#makeRoom(db, entry.createdAtMs)
      if (this.#isFull(words.length)) throw full()
      const { number } = await db
        .insertInto('outbox')
        .values({
          id: entry.id,
          state: 'waiting',
          chat_id: entry.chatId,
          message_id: entry.messageId,
          is_for_sealed: Number(entry.isForSealed),
          client: entry.client,
          created_at: entry.createdAtMs,
          due_at: entry.dueAtMs,
          bytes: words.length,
        })
        .returning('number')
        .executeTakeFirstOrThrow()
      const name = wordsOf(entry.id)
      const sealed = this.#store.seal(name, words)
      await db.insertInto('secrets').values({ name, sealed }).execute()
      return { ...entry, number, state: 'waiting' as const, bytes: words.length, ...UNSETTLED }
    })
    this.#entries.set(added.id, added)
    this.#changes.emit()
    return added
  }

  /** The body of an entry. @throws OperatorError `store-corrupt` */
  async words(id: string): Promise<Buffer | null> {
    const name = wordsOf(id)
    return await this.#store.read(async (db) => {
      const row = await db
        .selectFrom('secrets')
        .select('sealed')
        .where('name', '=', name)
        .executeTakeFirst()
      return row === undefined ? null : this.#store.unseal(name, row.sealed)
    })
  }

  /** Records what became of an entry; the words of one that was sent are erased with it. */
  async settle(
    id: string,
    how: Pick<OutboxEntry, 'state' | 'code' | 'sentId'>,
    atMs: number,
  ): Promise<void> {
    const { state, code, sentId } = how
    const change = { state, code, sent_id: sentId, settled_at: atMs, heard: 0 }
    await this.#change(id, change, state === 'sent')
    this.#changes.emit()
  }

  /** Lets an entry wait again. @param isForSealed false: it may leave readable */
  async wait(id: string, { isForSealed }: { isForSealed: boolean }): Promise<void> {
    const is_for_sealed = Number(isForSealed)
    await this.#change(id, { state: 'waiting', code: null, settled_at: null, is_for_sealed })
    this.#changes.emit()
  }

  /** Records that the bot has heard how entries were settled; if unwritten, until the next start. */
  async hear(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const entry = this.#entries.get(id)
      if (entry !== undefined) this.#entries.set(id, { ...entry, isHeard: true })
    }
    await this.#store.write(async (db) => {
      await db.updateTable('outbox').set({ heard: 1 }).where('id', 'in', ids).execute()
      await this.#read(db, ids)
    })
  }

  /** Removes an entry and its words. */
  async drop(id: string): Promise<void> {
    await this.#store.write((db) => remove(db, [id]))
    this.#entries.delete(id)
  }

  async #change(id: string, change: object, isErased = false): Promise<void> {
    await this.#store.write(async (db) => {
      await db.updateTable('outbox').set(change).where('id', '=', id).execute()
      if (isErased) await db.deleteFrom('secrets').where('name', '=', wordsOf(id)).execute()
      await this.#read(db, [id])
    })
  }

  #isFull(bytes: number): boolean {
    const kept = [...this.#entries.values()].filter(({ state }) => state !== 'sent')
    const sum = kept.reduce((total, entry) => total + entry.bytes, bytes)
    return kept.length >= MOST.entries || sum > MOST.bytes
  }

  /** Removes entries that were settled long ago, once for many new ones. */
  async #makeRoom(db: Kysely<Schema>, nowMs: number): Promise<void> {
    if (this.#untilPrune-- > 0) return
    this.#untilPrune = PRUNE_EVERY
    const old = [...this.#entries.values()].filter(
      ({ settledAtMs }) => settledAtMs !== null && settledAtMs < nowMs - SHOWN_MS,
    )
    await remove(
      db,
      old.map(({ id }) => id),
    )
    for (const { id } of old) this.#entries.delete(id)
  }
}

const UNSETTLED = { code: null, sentId: null, settledAtMs: null, isHeard: false }

async function remove(db: Kysely<Schema>, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await db.deleteFrom('outbox').where('id', 'in', ids).execute()
  await db.deleteFrom('secrets').where('name', 'in', ids.map(wordsOf)).execute()
}

function entryOf(row: SchemaRow<'outbox'>): OutboxEntry {
  return {
    number: row.number,
    id: row.id,
    state: row.state,
    chatId: row.chat_id,
    messageId: row.message_id,
    isForSealed: row.is_for_sealed === 1,
    client: row.client,
    createdAtMs: row.created_at,
    dueAtMs: row.due_at,
    bytes: row.bytes,
    code: row.code,
    sentId: row.sent_id,
    settledAtMs: row.settled_at,
    isHeard: row.heard === 1,
  }
}

function full(): Refusal {
  return new Refusal('postern_outbox_full', '', { extra: { retryAfter: FULL_SECONDS } })
}
