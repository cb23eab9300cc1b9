import type { Store } from '../store/store.ts'

/** What is remembered of a chat for good. Times are ms since the epoch. */
export interface ChatFacts {
  id: number
  kind: string
  /** Since when it is known to be protected; null: never seen so, or lifted since. */
  latchedAtMs: number | null
  /** When readable text was last refused for it. */
  refusedAtMs: number | null
}

const PRIVATE_READABLE = 'private_readable_since'

/**
 * Kinds and latches (DESIGN: The guard). Both only tighten: a chat once seen private stays
 * private, a chat once seen protected stays latched, until the operator lifts it.
 */
export class Facts {
  readonly #store: Store
  readonly #chats = new Map<number, ChatFacts>()
  #privateReadable = false

  private constructor(store: Store) {
    this.#store = store
  }

  static async load(store: Store): Promise<Facts> {
    const facts = new Facts(store)
    const rows = await store.read((db) => db.selectFrom('chats').selectAll().execute())
    for (const row of rows) {
      facts.#chats.set(row.id, {
        id: row.id,
        kind: row.kind,
        latchedAtMs: row.latched_at,
        refusedAtMs: row.refused_at,
      })
    }
    const flag = await store.read((db) =>
      db
        .selectFrom('flags')
        .select('value')
        .where('name', '=', PRIVATE_READABLE)
        .executeTakeFirst(),
    )
    facts.#privateReadable = flag !== undefined
    return facts
  }

  /** Every chat known, by id. */
  get all(): ChatFacts[] {
    return [...this.#chats.values()].sort((a, b) => a.id - b.id)
  }

  get(chatId: number): ChatFacts | undefined {
    return this.#chats.get(chatId)
  }

  isPrivate(chatId: number): boolean {
    return this.#chats.get(chatId)?.kind === 'private'
  }

  isLatched(chatId: number): boolean {
    return this.#chats.get(chatId)?.latchedAtMs != null
  }

  /** Whether the operator let private chats be readable again. */
  get privateReadable(): boolean {
    return this.#privateReadable
  }

  /**
   * A chat was seen with this kind, in an update or an answer.
   * @throws Refusal `postern_store_unwritable`
   */
  async sawKind(chatId: number, kind: string): Promise<void> {
    const known = this.#chats.get(chatId)
    if (known !== undefined && (known.kind === kind || known.kind === 'private')) return
    await this.#save({ id: chatId, latchedAtMs: null, refusedAtMs: null, ...known, kind })
  }

  /**
   * A chat was seen protected: by its own mode, or by the service's refusal of readable text.
   * @throws Refusal `postern_store_unwritable`
   */
  async sawProtected(chatId: number, kind?: string): Promise<void> {
    const known = this.#chats.get(chatId)
    if (known?.latchedAtMs != null) return
    const base = known ?? { id: chatId, kind: kind ?? 'unknown', refusedAtMs: null }
    await this.#save({ ...base, latchedAtMs: Date.now() })
  }

  /** Readable text was refused for a chat; remembered for `chat allow-readable --pending`. */
  async refused(chatId: number): Promise<void> {
    const known = this.#chats.get(chatId)
    if (known === undefined || known.refusedAtMs !== null) return
    await this.#save({ ...known, refusedAtMs: Date.now() })
  }

  /**
   * Lifts latches by the operator's word, once: the next sighting of `protected` latches again.
   * @returns the chats that were latched and are not any more
   */
  async lift(chatIds: number[]): Promise<number[]> {
    const lifted: number[] = []
    for (const chatId of chatIds) {
      const known = this.#chats.get(chatId)
      if (known === undefined || (known.latchedAtMs === null && known.refusedAtMs === null))
        continue
      await this.#save({ ...known, latchedAtMs: null, refusedAtMs: null }, Date.now())
      lifted.push(chatId)
    }
    return lifted
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

  async #save(facts: ChatFacts, liftedAtMs?: number): Promise<void> {
    const row = {
      id: facts.id,
      kind: facts.kind,
      latched_at: facts.latchedAtMs,
      refused_at: facts.refusedAtMs,
      ...(liftedAtMs === undefined ? {} : { lifted_at: liftedAtMs }),
    }
    await this.#store.write((db) =>
      db
        .insertInto('chats')
        .values(row)
        .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
        .execute(),
    )
    this.#chats.set(facts.id, facts)
  }
}
