import { sql, type Kysely, type Transaction } from 'kysely'
import { CHAT_KINDS } from '../api/chat.ts'
import { Listeners } from '../util/listeners.ts'
import { TimeSlice } from '../util/time-slice.ts'
import { Refusal } from '../errors.ts'
import type { ChatsTable, Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import { Mutex } from '../util/mutex.ts'

/** What is remembered of a chat for good. Times are ms since the epoch. */
export interface KnownChat {
  id: number
  kind: string
  /** The one person of a private chat, once learned; null in any other chat. */
  personId: number | null
  /** Since when it is known to be protected; null: never seen protected, or lifted since. */
  latchedAtMs: number | null
  /** When readable text was last refused for it. */
  refusedAtMs: number | null
}

const PRIVATE_READABLE = 'private_readable_since'

/**
 * How many chats are remembered. Forgetting one would loosen it, so a new chat beyond these is
 * refused.
 */
const MOST_CHATS = 250_000

export interface KnownChatsOptions {
  /** `MOST_CHATS` when not given. */
  maxChats?: number
}

/**
 * Kinds, latches and the people of private chats (DESIGN: The guard, Sealing). All of them only
 * tighten: a chat once seen private stays private, one once seen as a group is a group or private,
 * a chat once seen protected stays latched until the operator lifts it.
 */
export class KnownChats {
  readonly #store: Store
  readonly #chats = new Map<number, KnownChat>()
  readonly #maxChats: number
  readonly #refusals = new Listeners()
  readonly #rereads = new Listeners<number>()
  readonly #mutex = new Mutex()
  #privateReadable = false

  private constructor(store: Store, { maxChats = MOST_CHATS }: KnownChatsOptions) {
    this.#store = store
    this.#maxChats = maxChats
  }

  /** Calls back when a new chat is refused because there are too many. */
  onFull(listener: () => void): void {
    this.#refusals.add(listener)
  }

  /**
   * Calls back with a chat of which another sidecar has learned something, or a notice came: what is
   * kept of the service's answers about it is stale.
   */
  onReread(listener: (chatId: number) => void): void {
    this.#rereads.add(listener)
  }

  static async load(store: Store, options: KnownChatsOptions = {}): Promise<KnownChats> {
    const knownChats = new KnownChats(store, options)
    store.follow('chats', async (db, keys) => {
      const query = db.selectFrom('chats').selectAll()
      const ids = keys.map(Number)
      knownChats.#take(await query.where('id', 'in', ids).execute())
      for (const id of ids) knownChats.#rereads.emit(id)
    })
    store.follow('flags', (db) => knownChats.#readFlag(db))
    knownChats.#take(await store.read((db) => db.selectFrom('chats').selectAll().execute()))
    await store.read((db) => knownChats.#readFlag(db))
    return knownChats
  }

  #take(rows: readonly ChatsTable[]): void {
    for (const row of rows) {
      this.#chats.set(row.id, {
        id: row.id,
        kind: kindNamed(row.kind),
        personId: row.person_id,
        latchedAtMs: row.latched_at,
        refusedAtMs: row.refused_at,
      })
    }
  }

  async #readFlag(db: Kysely<Schema>): Promise<void> {
    const flag = await db
      .selectFrom('flags')
      .select('value')
      .where('name', '=', PRIVATE_READABLE)
      .executeTakeFirst()
    this.#privateReadable = flag !== undefined
  }

  /** Every chat known, by id. */
  get all(): KnownChat[] {
    return [...this.#chats.values()].sort((a, b) => a.id - b.id)
  }

  get(chatId: number): KnownChat | undefined {
    return this.#chats.get(chatId)
  }

  isPrivate(chatId: number): boolean {
    return this.#chats.get(chatId)?.kind === 'private'
  }

  /** Whose private chat it is, once that was learned; null for any other chat. */
  personOf(chatId: number): number | null {
    return this.isPrivate(chatId) ? (this.#chats.get(chatId)?.personId ?? null) : null
  }

  isLatched(chatId: number): boolean {
    return this.#chats.get(chatId)?.latchedAtMs != null
  }

  /** Whether the operator let private chats be readable again. */
  get privateReadable(): boolean {
    return this.#privateReadable
  }

  /**
   * Chats were seen with these kinds, in updates or answers. One write for all that is new.
   * @throws Refusal `postern_store_unwritable`
   */
  async sawKinds(seen: { chatId: number; kind: string }[]): Promise<void> {
    if (seen.every(({ chatId, kind }) => this.#isKnown(chatId, kind))) return
    await this.#change(
      seen.map(({ chatId }) => chatId),
      (known) => {
        const kinds = seen.flatMap((one) => (one.chatId === known.id ? [one.kind] : []))
        const kind = kinds.reduce(stricterKind, known.kind)
        return kind === known.kind ? null : { ...known, kind }
      },
    )
  }

  /**
   * Notices of the service came: somebody joined or left, or a chat has changed. Other sidecars of
   * the bot, which do not see them, are told.
   * @throws Refusal `postern_store_unwritable`
   */
  async sawNotices(chatIds: readonly number[]): Promise<void> {
    if (!this.#store.isShared || chatIds.length === 0) return
    // whatever is written to a row counts as a change of it
    const isSame = { kind: sql<string>`kind` }
    await this.#store.write((db) =>
      db.updateTable('chats').set(isSame).where('id', 'in', chatIds).execute(),
    )
  }

  /**
   * A chat was seen as the service answers for it. One write for all that is new.
   * @throws Refusal `postern_store_unwritable`
   */
  async sawChat(seen: { chatId: number; kind: string; isProtected: boolean }): Promise<void> {
    const { chatId, isProtected } = seen
    if (this.#isKnown(chatId, seen.kind) && (!isProtected || this.isLatched(chatId))) return
    await this.#change([chatId], (known) => {
      const kind = stricterKind(known.kind, seen.kind)
      const latchedAtMs = known.latchedAtMs ?? (isProtected ? Date.now() : null)
      const isSame = kind === known.kind && latchedAtMs === known.latchedAtMs
      return isSame ? null : { ...known, kind, latchedAtMs }
    })
  }

  /**
   * Private chats were seen with these people. The first one of a chat is its person for good.
   * Chats that are not known as private are passed over. One write for all that is new.
   * @throws Refusal `postern_store_unwritable`
   */
  async sawPersons(seen: { chatId: number; userId: number }[]): Promise<void> {
    const first = new Map<number, number>()
    for (const { chatId, userId } of seen) {
      const isNew = this.isPrivate(chatId) && this.personOf(chatId) === null
      if (isNew && !first.has(chatId)) first.set(chatId, userId)
    }
    if (first.size === 0) return
    await this.#change([...first.keys()], (known) => {
      if (known.kind !== 'private' || known.personId !== null) return null
      return { ...known, personId: first.get(known.id) ?? null }
    })
  }

  /**
   * The operator names the person of a private chat, whoever was learned before.
   * @returns whether it is a private chat, and known
   * @throws Refusal `postern_store_unwritable`
   */
  async setPerson(chatId: number, userId: number): Promise<boolean> {
    if (!this.isPrivate(chatId)) return false
    await this.#change([chatId], (known) => ({ ...known, personId: userId }))
    return true
  }

  /**
   * A chat was seen protected: by its own mode, or by the service's refusal of readable text.
   * @throws Refusal `postern_store_unwritable`
   */
  async sawProtected(chatId: number): Promise<void> {
    if (this.isLatched(chatId)) return
    await this.#change([chatId], (known) =>
      known.latchedAtMs === null ? { ...known, latchedAtMs: Date.now() } : null,
    )
  }

  /** Readable text was refused for a chat; remembered for `chat allow-readable --pending`. */
  async refused(chatId: number): Promise<void> {
    if (this.#chats.get(chatId)?.refusedAtMs !== null) return
    await this.#change([chatId], (known) =>
      known.refusedAtMs === null ? { ...known, refusedAtMs: Date.now() } : null,
    )
  }

  /**
   * Lifts latches when the operator asks. The next sighting of `protected` latches again.
   * @returns the chats that were latched or refused and are not any more
   */
  async lift(chatIds: number[]): Promise<number[]> {
    const known = chatIds.filter((chatId) => this.#chats.has(chatId))
    return await this.#change(
      known,
      (chat) =>
        chat.latchedAtMs === null && chat.refusedAtMs === null
          ? null
          : { ...chat, latchedAtMs: null, refusedAtMs: null },
      { lifted_at: Date.now() },
    )
  }

  /** Lets private chats be readable (`true`) or protected again; lifts their latches. */
  async setPrivateReadable(choice: { readable: boolean }): Promise<number[]> {
    await this.#store.write(async (db) => {
      await db.deleteFrom('flags').where('name', '=', PRIVATE_READABLE).execute()
      if (!choice.readable) return
      const value = String(Date.now())
      await db.insertInto('flags').values({ name: PRIVATE_READABLE, value }).execute()
    })
    this.#privateReadable = choice.readable
    if (!choice.readable) return []
    return await this.lift(this.all.filter(({ kind }) => kind === 'private').map(({ id }) => id))
  }

  #isKnown(chatId: number, kind: string): boolean {
    const known = this.#chats.get(chatId)
    return known !== undefined && stricterKind(known.kind, kind) === known.kind
  }

  /**
   * Changes chats one change after the other, so that none undoes what another has just learned.
   * Memory follows the disk.
   * @param change returns the changed chat, or null to leave it
   * @returns the chats that changed
   * @throws Refusal `postern_store_unwritable`, also when there were too many new chats; the known
   *   ones have changed all the same
   */
  async #change(
    chatIds: number[],
    change: (known: KnownChat) => KnownChat | null,
    extra: { lifted_at?: number } = {},
  ): Promise<number[]> {
    return await this.#mutex.run(async () => {
      let outcome = this.#changedBy(chatIds, change)
      if (outcome.changed.length > 0) {
        await this.#store.write(async (db) => {
          outcome = this.#changedBy(chatIds, change)
          await save(db, outcome.changed, extra)
        })
      }
      for (const chat of outcome.changed) this.#chats.set(chat.id, chat)
      if (outcome.tooMany > 0) throw this.#full()
      return outcome.changed.map(({ id }) => id)
    })
  }

  /** What a change makes of chats, by all that is known now; of new ones only as many as may be. */
  #changedBy(
    chatIds: number[],
    change: (known: KnownChat) => KnownChat | null,
  ): { changed: KnownChat[]; tooMany: number } {
    const wanted = [...new Set(chatIds)].flatMap((id) => {
      return change(this.#chats.get(id) ?? unseen(id)) ?? []
    })
    const room = this.#maxChats - this.#chats.size
    const tooMany = new Set(
      wanted.filter(({ id }) => !this.#chats.has(id)).slice(Math.max(0, room)),
    )
    return { changed: wanted.filter((chat) => !tooMany.has(chat)), tooMany: tooMany.size }
  }

  #full(): Refusal {
    this.#refusals.emit()
    return new Refusal(
      'postern_store_unwritable',
      `no more than ${this.#maxChats} chats are remembered, and this one is new`,
    )
  }
}

async function save(
  db: Transaction<Schema>,
  changed: readonly KnownChat[],
  extra: { lifted_at?: number },
): Promise<void> {
  const slice = new TimeSlice()
  for (const { id, kind, personId, latchedAtMs, refusedAtMs } of changed) {
    await slice.yieldIfOver()
    const times = { latched_at: latchedAtMs, refused_at: refusedAtMs, ...extra }
    const row = { id, kind, person_id: personId, ...times }
    await db
      .insertInto('chats')
      .values(row)
      .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
      .execute()
  }
}

/** One string for all chats of a kind, however many come from the disk. */
function kindNamed(kind: string): string {
  return CHAT_KINDS.find((known) => known === kind) ?? kind
}

/** The kind of a chat that was known as one kind and is now claimed to be another. */
function stricterKind(known: string, claimed: string): string {
  for (const kind of ['private', 'group']) if (known === kind || claimed === kind) return kind
  return claimed
}

/** A chat of which nothing is known. */
function unseen(id: number): KnownChat {
  return { id, kind: 'unknown', personId: null, latchedAtMs: null, refusedAtMs: null }
}
