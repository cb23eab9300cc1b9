/** The entries of the outbox in the store: their words rest under the protection, all else in a table. */
import type { Kysely } from 'kysely'
import { Refusal } from '../errors.ts'
import { counted } from '../printable.ts'
import type { Clients, LaterCaller } from '../clients/clients.ts'
import type { Approval, Approvals, Journal } from '../kernel/index.ts'
import { JournalRows } from '../store/records/journal.ts'
import { changeRows, findRow, findRows, upsert } from '../store/records/rows.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import { Listeners } from '../util/listeners.ts'
import { approvalOf, changesOf, digestOf, requestText } from './request.ts'
import { entryOf, isOpen, isOver, isTimed, rowOf, UNSETTLED } from './entry.ts'
import type { OutboxEntry, SettledEntry, UnnumberedEntry } from './entry.ts'
import { mostOf, requireRoom } from './shares.ts'

export { isOpen, isOver, isTimed, type OutboxEntry, type OutboxState } from './entry.ts'

/** The code of an entry that its client may not have sent. */
export const LOST = 'postern_not_allowed'

/** An entry before it has a number. */
export type NewEntry = Pick<
  OutboxEntry,
  'id' | 'chatId' | 'messageId' | 'isForSealed' | keyof LaterCaller | 'createdAtMs' | 'dueAtMs'
>

/** An entry that is settled is shown for so long, of those that were sent as many as may wait. */
const SHOWN_MS = 72 * 3_600_000
const PRUNE_EVERY = 100

export interface OutboxEntriesParts {
  approvals: Approvals
  clients: Pick<Clients, 'hasLost'>
  journal: Pick<Journal, 'append'>
  /** The longest text that the service accepts, in UTF-16 units. */
  textMax: () => number
}

const wordsOf = (id: string): string => `outbox/${id}`
const codeOf = (id: string): string => `outbox/${id}/code`

export class OutboxEntries {
  readonly #store: Store
  readonly #parts: OutboxEntriesParts
  readonly #entries = new Map<string, OutboxEntry>()
  readonly #changes = new Listeners()
  /** Calls back when there may be something to send. */
  readonly onChange = this.#changes.add
  readonly #settled = new Listeners<SettledEntry>()
  /** Calls back with every entry that was settled here. */
  readonly onSettled = this.#settled.add
  #untilPrune = 0

  private constructor(store: Store, parts: OutboxEntriesParts) {
    this.#store = store
    this.#parts = parts
  }

  static async load(store: Store, parts: OutboxEntriesParts): Promise<OutboxEntries> {
    const entries = new OutboxEntries(store, parts)
    store.follow('outbox', async (db, ids) => {
      await entries.#read(db, ids)
      entries.#changes.emit()
    })
    await store.read((db) => entries.#read(db, null))
    return entries
  }

  async #read(db: Kysely<Schema>, ids: readonly string[] | null): Promise<void> {
    const rows = await findRows(db, 'outbox', ids && { id: ids })
    for (const id of ids ?? []) this.#entries.delete(id)
    const sound = this.#store.rowSeal.sound('outbox', rows)
    const isAsked = sound.some(({ approval }) => approval !== null)
    const codes = isAsked ? await this.#codes(db, ids) : new Map<string, string>()
    for (const row of sound) {
      const code = row.approval === null ? '' : codes.get(codeOf(row.id))
      if (code !== undefined) this.#entries.set(row.id, entryOf(row, code))
    }
  }

  async #codes(db: Kysely<Schema>, ids: readonly string[] | null) {
    const all = db.selectFrom('secrets').selectAll().where('name', 'like', codeOf('%'))
    const rows = await (ids === null ? all : all.where('name', 'in', ids.map(codeOf))).execute()
    const open = (name: string, sealed: Uint8Array) => this.#store.unseal(name, sealed).toString()
    return new Map(rows.map(({ name, sealed }) => [name, open(name, sealed)]))
  }

  async #saveSecret(db: Kysely<Schema>, name: string, secret: Buffer): Promise<void> {
    await upsert(db, 'secrets', 'name', { name, sealed: this.#store.seal(name, secret) })
  }

  /** The code is for the approver and Postern alone: no reader of the store has it. */
  async #saveCode(db: Kysely<Schema>, { id, approval }: UnnumberedEntry): Promise<void> {
    if (approval !== null) await this.#saveSecret(db, codeOf(id), Buffer.from(approval.code))
  }

  /** In the order in which they were given. */
  get all(): OutboxEntry[] {
    return [...this.#entries.values()].sort((a, b) => a.number - b.number)
  }

  /** Those that were not settled, in no order. */
  get waiting(): OutboxEntry[] {
    return [...this.#entries.values()].filter(isOpen)
  }

  /** Of the entries that need a person's word, or got one. */
  get approvals(): Approval[] {
    return [...this.#entries.values()].flatMap(({ approval }) => approval ?? [])
  }

  get(id: string): OutboxEntry | undefined {
    return this.#entries.get(id)
  }

  /**
   * Adds an entry, `asked` where a rule demands a word; one that is there under its id is given as it is.
   * @param words the body of the call, JSON
   * @throws Refusal `postern_outbox_full`, `postern_locked`, `postern_store_unwritable`,
   *   `postern_approver_unreachable`, `postern_approver_busy`, `bad_request` where the request for the
   *   word is too long
   */
  async add(entry: NewEntry, words: Buffer): Promise<OutboxEntry> {
    const { entry: added, announce } = await this.#store.write(async (db) => {
      await this.#read(db, [entry.id])
      const known = this.#entries.get(entry.id)
      if (known !== undefined) return { entry: known, announce: () => {} }
      await this.#makeRoom(db, entry)
      requireRoom([...this.#entries.values()], { client: entry.client, bytes: words.length })
      const demanded = this.#demand(entry, words, entry.createdAtMs)
      const times = this.#timesOf(entry)
      const made = { ...entry, ...times, ...demanded, bytes: words.length, ...UNSETTLED }
      const row = rowOf(made, this.#store.rowSeal)
      const inserted = db.insertInto('outbox').values(row).returning('number')
      const { number } = await inserted.executeTakeFirstOrThrow()
      await this.#saveSecret(db, wordsOf(entry.id), words)
      await this.#saveCode(db, made)
      return { entry: { ...made, number }, announce: await this.#note(db, made) }
    })
    announce()
    this.#entries.set(added.id, added)
    this.#changes.emit()
    return added
  }

  /** The body of an entry. @throws OperatorError `store-corrupt` */
  async words(id: string): Promise<Buffer | null> {
    const name = wordsOf(id)
    const row = await this.#store.read((db) => findRow(db, 'secrets', { name }))
    return row === undefined ? null : this.#store.unseal(name, row.sealed)
  }

  /**
   * Records how an entry ended; the words of one that was sent are erased with it.
   * @param read as it was when its end was decided: what became of it since stays, but that it was sent
   */
  async settle(read: OutboxEntry, how: Partial<SettledEntry>, atMs: number): Promise<void> {
    await this.change(read.id, ({ state }) => {
      const isAsRead = state === read.state || (how.state === 'sent' && state !== 'sent')
      return isAsRead ? { ...how, settledAtMs: atMs, isHeard: false } : null
    })
    // dropped meanwhile
    if (how.state === 'sent' && !this.#entries.has(read.id)) {
      this.#settled.emit({ ...read, ...how, state: 'sent' })
    }
  }

  /** Records of an entry that is as it was read that its call is made now. @returns whether it is so */
  async leaves({ id, state }: OutboxEntry): Promise<boolean> {
    const call = state === 'asked' ? {} : { call: 'open' as const }
    return await this.change(id, (now) => (now.state === state ? call : null))
  }

  /** Refuses every entry that waits, or is asked, and whose caller has lost its credential. */
  async refuseLost(nowMs: number): Promise<void> {
    const how = { state: 'refused', code: LOST, settledAtMs: nowMs, isHeard: false } as const
    const isLost = (entry: OutboxEntry): boolean =>
      isOpen(entry) && this.#parts.clients.hasLost(entry)
    for (const { id } of this.all.filter(isLost)) {
      await this.change(id, (entry) => (isLost(entry) ? how : null))
    }
  }

  /**
   * Lets an entry that was refused or is held wait again; where a rule demands a word, it is asked for
   * anew.
   * @param o `isForSealed` false: it may leave readable
   * @returns false where it is neither, by another sidecar too
   * @throws Refusal as `add`
   */
  async wait(id: string, o: { isForSealed: boolean; nowMs: number }): Promise<boolean> {
    const words = (await this.words(id)) ?? Buffer.from('{}')
    const { isForSealed } = o
    return await this.change(id, (entry) => {
      if (entry.state !== 'refused' && entry.state !== 'held') return null
      const open = { code: null, settledAtMs: null, isHeard: false, isForSealed }
      return { ...this.#demand(entry, words, o.nowMs), ...open }
    })
  }

  /** The word that a call needs. */
  #demand(entry: NewEntry, words: Buffer, askedAtMs: number) {
    const { approvals, textMax } = this.#parts
    const rule = approvals.demandOf(entry)
    if (rule === null) return { state: 'waiting' as const, approval: null }
    const open = this.all.flatMap(({ id, state, client, approval: one }) => {
      const isOther = state === 'asked' && client === entry.client && id !== entry.id
      return isOther ? (one?.requests ?? []).map(({ userId }) => userId) : []
    })
    const how = { digest: digestOf(entry, words), askedAtMs }
    const approval = approvalOf(rule, approvals.chatsOf(rule, open), how)
    const kind = approvals.kindOf(entry.chatId)
    const over = requestText(entry, words, { ...approval, kind }).length - textMax()
    if (over <= 0) return { state: 'asked' as const, approval }
    const detail = `text: is ${counted(over, 'character')} too long for the message that asks a person`
    throw new Refusal('bad_request', detail)
  }

  /**
   * Changes an entry by its state in the store; a word that it asks for or got is journalled in the
   * same transaction, and the words of one that was sent are erased.
   * @param how null: nothing changes @returns whether it was changed
   */
  async change(id: string, how: (entry: OutboxEntry) => Partial<OutboxEntry> | null) {
    const changed = await this.#store.write(async (db) => {
      await this.#read(db, [id])
      const before = this.#entries.get(id)
      const change = before && how(before)
      if (before === undefined || change == null) return null
      const after = { ...before, ...change }
      await changeRows(db, 'outbox', { id }, rowOf(after, this.#store.rowSeal))
      if (after.approval?.code !== before.approval?.code) await this.#saveCode(db, after)
      if (isOver(after)) await db.deleteFrom('secrets').where('name', '=', wordsOf(id)).execute()
      const isSettled = isOpen(before) && !isOpen(after)
      return { after, isSettled, announce: await this.#note(db, after, before) }
    })
    if (changed === null) return false
    this.#entries.set(id, changed.after)
    changed.announce()
    this.#changes.emit()
    if (changed.isSettled) this.#settled.emit(changed.after as SettledEntry)
    return true
  }

  /** Journals the word of an entry, or the refusal of its client, where it is new. @returns to be called after the write */
  async #note(db: Kysely<Schema>, after: UnnumberedEntry, before?: OutboxEntry) {
    const [now, then] = [after.approval, before?.approval]
    const isNew = now?.code !== then?.code || now?.decision !== then?.decision
    const { id, chatId, client, code } = after
    const detail = { client: client ?? '', entry: id }
    const isLost = code === LOST && before?.code !== LOST
    const lost = isLost ? [{ kind: 'client-call-refused' as const, chatId, detail }] : []
    const records = { journal: new JournalRows(db, this.#store.rowSeal) }
    return await this.#parts.journal.append(records, isNew ? changesOf(after) : lost)
  }

  /** Removes an entry and its words. @returns it; null where it was sent, or is not there */
  async drop(id: string): Promise<OutboxEntry | null> {
    const dropped = await this.#store.write(async (db) => {
      await this.#read(db, [id])
      const entry = this.#entries.get(id)
      if (entry === undefined || entry.state === 'sent') return null
      await remove(db, [id])
      return entry
    })
    if (dropped !== null) this.#entries.delete(id)
    return dropped
  }

  /**
   * The times of a new entry. The order of those without a time of their own is that of the writes, by
   * no clock of a sidecar: none is before one of its chat that was given earlier.
   */
  #timesOf({ chatId, createdAtMs, dueAtMs }: NewEntry): Pick<NewEntry, 'createdAtMs' | 'dueAtMs'> {
    if (dueAtMs > createdAtMs) return { createdAtMs, dueAtMs }
    const ahead = this.waiting.filter((one) => one.chatId === chatId && !isTimed(one))
    const atMs = ahead.reduce((latest, one) => Math.max(latest, one.createdAtMs), createdAtMs)
    return { createdAtMs: atMs, dueAtMs: atMs }
  }

  /** Removes entries that were settled long ago, and the first of many of a caller's, once for many new ones. */
  async #makeRoom(db: Kysely<Schema>, { client, createdAtMs: nowMs }: NewEntry): Promise<void> {
    if (this.#untilPrune-- > 0) return
    this.#untilPrune = PRUNE_EVERY
    const sent = this.all.filter((one) => isOver(one) && one.client === client)
    const old = this.all.filter(({ settledAtMs }) => (settledAtMs ?? nowMs) < nowMs - SHOWN_MS)
    const ids = [...old, ...sent.slice(0, -mostOf(client).entries)].map(({ id }) => id)
    await remove(db, ids)
    for (const id of ids) this.#entries.delete(id)
  }
}

async function remove(db: Kysely<Schema>, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await db.deleteFrom('outbox').where('id', 'in', ids).execute()
  const names = ids.flatMap((id) => [wordsOf(id), codeOf(id)])
  await db.deleteFrom('secrets').where('name', 'in', names).execute()
}
