/** People who were forgotten: their pins, blocks and duties to sign survive under keyed hashes. */
import { createHmac } from 'node:crypto'
import { sql, type Kysely } from 'kysely'
import { refusedError } from '../errors.ts'
import type { ForgottenPeople, Journal, Pin, SignedKind } from '../kernel/index.ts'
import type { StoreMemory } from './memory.ts'
import { erasePerson, type Erasure } from './records/forget.ts'
import { JournalRows } from './records/journal.ts'
import { Rows, chunksOf, findRow } from './records/rows.ts'
import type { Schema, SchemaRow } from './schema.ts'
import { noteScrub, scrubDue } from './scrub.ts'
import { FOLLOWED_KEYS, type Store } from './store.ts'

/** The secret of the store that keys the hashes. */
const SECRET = 'forgotten'
/** Begins the keyed hash of a fingerprint. */
const PIN_PREFIX = 'forgotten:'
const HASH_CHARS = 32
/** Whether a fingerprint is the keyed hash of one. */
export const isForgotten = (fingerprint: string): boolean => fingerprint.startsWith(PIN_PREFIX)
/** Entries of the journal that one `person-forgotten` names. */
const ENTRIES_AT_ONCE = 1000
const SIGNED = { words: 'signed_at', file: 'signed_files_at' } as const
/** Tables whose changes are recorded under ids of people, on PostgreSQL. */
const FOLLOWED_PEOPLE = ['pins', 'people', 'key_changes', 'certificates'] as const
/** No sidecar is behind for so long. */
const SETTLED_MS = 300_000

/** The effect of an erasure. */
export interface ForgetReport extends Omit<Erasure, 'entries'> {
  alias: string
  entries: number
  /** Deleted data was overwritten on disk too. */
  isScrubbed: boolean
}

export class Forgotten implements ForgottenPeople {
  readonly #store: Store
  readonly #people = new Map<string, SchemaRow<'forgotten'>>()
  #key: Buffer | null = null
  /** When somebody was forgotten last, or the start; by the monotonic clock. */
  #changedAtMs = performance.now()

  private constructor(store: Store) {
    this.#store = store
  }

  static async load(store: Store): Promise<Forgotten> {
    const forgotten = new Forgotten(store)
    store.follow('forgotten', (db, aliases) => forgotten.#read(db, aliases))
    await store.read((db) => forgotten.#read(db, null))
    return forgotten
  }

  async #read(db: Kysely<Schema>, aliases: readonly string[] | null): Promise<void> {
    const sealed = new Rows(db, this.#store.rowSeal)
    const rows = await sealed.sound('forgotten', aliases && { person: aliases })
    if (rows.length > 0 && this.#key === null) {
      const row = await findRow(db, 'secrets', { name: SECRET })
      if (row !== undefined) this.#key = this.#store.unseal(SECRET, row.sealed)
    }
    for (const alias of aliases ?? []) this.#people.delete(alias)
    for (const row of rows) this.#people.set(row.person, row)
    this.#changedAtMs = performance.now()
  }

  #hash(...fields: (string | number)[]): string {
    const hmac = createHmac('sha256', this.#key ?? Buffer.alloc(0))
    return hmac.update(JSON.stringify(fields)).digest('hex').slice(0, HASH_CHARS)
  }

  #of(userId: number): SchemaRow<'forgotten'> | undefined {
    return this.#people.size === 0 ? undefined : this.#people.get(this.#hash('person', userId))
  }

  aliasOf(userId: number): string | undefined {
    return this.#of(userId)?.person
  }

  pinOf(userId: number): Pin | undefined {
    const row = this.#of(userId)
    if (row === undefined || (row.pin === null && row.standing === 'seen')) return undefined
    const { pin: fingerprint, standing, since: sinceMs, vouched } = row
    const pin = { userId, fingerprint, standing, sinceMs, listed: null, listedAtMs: null }
    return vouched === null ? pin : { ...pin, vouched: JSON.parse(vouched) }
  }

  recalled(pin: Pin, fingerprint: string): Pin | undefined {
    const { userId, vouched } = pin
    const hashes = [pin.fingerprint, vouched?.fingerprint]
    if (!hashes.some((one) => one?.startsWith(PIN_PREFIX))) return undefined
    const hash = this.#pinHash(userId, fingerprint)
    if (!hashes.includes(hash)) return undefined
    const isVouched = vouched?.fingerprint === hash && { vouched: { ...vouched, fingerprint } }
    return { ...pin, ...(pin.fingerprint === hash && { fingerprint }), ...isVouched }
  }

  #pinHash(userId: number, fingerprint: string): string {
    if (isForgotten(fingerprint)) return fingerprint
    return PIN_PREFIX + this.#hash('pin', userId, fingerprint)
  }

  hasSigned(userId: number, kind: SignedKind): boolean {
    return (this.#of(userId)?.[SIGNED[kind]] ?? null) !== null
  }

  startOver(userId: number): void {
    const row = this.#of(userId)
    if (row !== undefined) Object.assign(row, { signed_at: null, signed_files_at: null })
  }

  /**
   * Erases a person from the store and from memory, and journals it.
   * @throws OperatorError `refused` where nothing is known of the person; Refusal
   *   `postern_locked` where the store keeps no secrets, `postern_store_unwritable`
   */
  async forget(
    userId: number,
    { memory, journal }: { memory: StoreMemory; journal: Journal },
  ): Promise<ForgetReport> {
    const store = this.#store
    this.#key ??= await store.secret(SECRET)
    const alias = this.#hash('person', userId)
    const pinOf = (fingerprint: string): string => this.#pinHash(userId, fingerprint)
    const { erasure, announce } = await store.write(async (db) => {
      const erased = await erasePerson(db, { userId, alias, pinOf, seal: store.rowSeal })
      const count = Object.values(erased.rows).reduce((sum, rows) => sum + rows, 0)
      if (count + erased.entries.length + erased.chats.length === 0) throw unknown(userId)
      await noteScrub(db)
      const chunks = chunksOf(erased.entries, ENTRIES_AT_ONCE)
      const changes = (chunks.length === 0 ? [[]] : chunks).map((entries) => ({
        kind: 'person-forgotten' as const,
        detail: { person: alias, entries },
      }))
      const told = await journal.append({ journal: new JournalRows(db, store.rowSeal) }, changes)
      await this.#read(db, [alias])
      return { erasure: erased, announce: told }
    })
    announce()
    const { chats, fingerprints } = erasure
    await memory.reread('chats', chats.map(String))
    await memory.reread('certificates', fingerprints)
    for (const kind of ['people', 'pins', 'key_changes'] as const) {
      await memory.reread(kind, [String(userId)])
    }
    await memory.reread('forgotten', [alias])
    return { ...erasure, alias, entries: erasure.entries.length, isScrubbed: await scrubDue(store) }
  }

  /**
   * On PostgreSQL: removes the ids of deleted rows from the record of changes, once every sidecar has
   * read them. Call it now and then.
   * @throws Refusal `postern_store_unwritable`
   */
  async purge(): Promise<void> {
    const isSettled = performance.now() - this.#changedAtMs > SETTLED_MS
    if (!this.#store.isShared || this.#people.size === 0 || !isSettled) return
    await this.#store.note(async (db) => {
      for (const table of FOLLOWED_PEOPLE) {
        const kept = db.selectFrom(table as 'pins').select((row) => {
          return sql<string>`${row.ref(FOLLOWED_KEYS[table] as 'user_id')}::text`.as('key')
        })
        const changes = db.deleteFrom('changes' as 'flags')
        await changes
          .where('relation' as 'name', '=', table)
          .where('key' as 'name', 'not in', kept)
          .execute()
      }
    })
  }
}

/** The remains of a forgotten person, each with its reason. @param o remains beside the report's */
export function describeStays(
  { alias, chats, revoked, shared, isScrubbed }: ForgetReport,
  o: { clients: readonly string[]; copies: readonly string[]; isShared: boolean },
): string[] {
  const server =
    'the server’s log, backups and free pages, and for an hour the record of changes: see trust, README'
  return [
    `keyed hashes of the id (${alias}) and of the fingerprint: a changed key, a block and the duty to sign survive`,
    'digests of messages, without the person: no message is replayed',
    'time and kind of the entries of the journal: its chain verifies',
    ...chats.map((id) => `chat ${id}: nothing readable may go there; whose it is, is learned anew`),
    ...revoked.map((one) => `certificate ${one}: that it is revoked, and nothing else`),
    ...shared.map((one) => `certificate ${one}: others are listed with it`),
    ...o.clients.map((name) => `client ${name}: its scope names the person`),
    ...o.copies.map((name) => `${name}: a copy of the store of before; remove it`),
    ...(o.isShared ? [server] : []),
    ...(isScrubbed ? [] : ['deleted data on the disk, until the next start overwrites it']),
    'logs and backups, and entries of the journal that you keep elsewhere',
  ]
}

const unknown = (userId: number): Error =>
  refusedError(
    `nothing is known of person ${userId}`,
    '`postern trust list` shows the ids of the people whom we know',
  )
