/** Rows that grant or loosen: each carries a MAC under a secret of the store over its identity and value. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { Listeners } from '../util/listeners.ts'
import type { Schema, SchemaRow } from './schema.ts'

/** The columns that the MAC of a row covers, its key first. */
export const SEALED_COLUMNS = {
  own_keys: [
    'fingerprint',
    'certificate',
    'state',
    'created_at',
    'offered_at',
    'published_at',
    'retired_at',
    'destroyed_at',
  ],
  chats: ['id', 'kind', 'person_id', 'latched_at'],
  // the digest covers the copy
  certificates: ['fingerprint', 'owner', 'revoked_armored', 'copy_digest'],
  pins: [
    'user_id',
    'fingerprint',
    'since',
    'standing',
    'listed',
    'listed_at',
    'former',
    'former_at',
    'former_pinned',
    'vouched',
  ],
  media: ['id', 'chat_id', 'sender', 'named_at', 'digest'],
  trust_policies: ['chat_id', 'policy'],
  flags: ['name', 'value'],
  clients: ['name', 'credential', 'allows', 'created_at'],
  outbox: [
    'id',
    'state',
    'chat_id',
    'message_id',
    'is_for_sealed',
    'client',
    'credential',
    'created_at',
    'due_at',
    'call',
    'approval',
    'code',
    'sent_id',
    'settled_at',
  ],
  forgotten: ['person', 'pin', 'standing', 'since', 'vouched'],
  // the hash covers the content, and all entries before it
  journal: ['hash', 'place'],
  journal_heads: ['entry', 'hash', 'kept'],
} as const satisfies { [Table in keyof Schema]?: readonly (keyof Schema[Table] & string)[] }

export type SealedTable = keyof typeof SEALED_COLUMNS
type Covered<T extends SealedTable> = Pick<
  SchemaRow<T>,
  (typeof SEALED_COLUMNS)[T][number] & keyof SchemaRow<T>
>
type Mac = { mac: Uint8Array | null }

/** A row without its MAC, which counts as no row. */
export interface ForgedRow {
  table: SealedTable
  key: string
}

/** Seals rows, and checks those that are read. */
export class RowSeal {
  /** Null while the store has no protection: then no row has a MAC, and none is demanded. */
  key: Buffer | null
  readonly #forged = new Map<string, ForgedRow>()
  readonly #found = new Listeners()
  /** Calls back when a forged row is found for the first time. */
  readonly onForged = this.#found.add

  constructor(key: Buffer | null) {
    this.key = key
  }

  /** Every forged row that was found since the start. */
  get forged(): readonly ForgedRow[] {
    return [...this.#forged.values()]
  }

  /** Gives a row its MAC. @param row with every column that the MAC covers, as it will be read */
  seal<T extends SealedTable, R extends Covered<T>>(table: T, row: R): R & Mac {
    return { ...row, mac: this.#macOf(table, row) }
  }

  /** Whether a row has its MAC. */
  isSound<T extends SealedTable>(table: T, row: Covered<T> & Mac): boolean {
    const mac = this.#macOf(table, row)
    return mac === null || (row.mac?.length === mac.length && timingSafeEqual(row.mac, mac))
  }

  /** The rows that have their MAC; the others are not there, and are reported. */
  sound<T extends SealedTable, R extends Covered<T> & Mac>(table: T, rows: readonly R[]): R[] {
    return rows.filter((row) => {
      if (this.isSound(table, row)) return true
      const key = String((row as Record<string, unknown>)[SEALED_COLUMNS[table][0]])
      const isNew = !this.#forged.has(`${table} ${key}`)
      if (this.#forged.size < MOST_FORGED) this.#forged.set(`${table} ${key}`, { table, key })
      if (isNew) this.#found.emit()
      return false
    })
  }

  #macOf(table: SealedTable, row: object): Buffer | null {
    if (this.key === null) return null
    const values = SEALED_COLUMNS[table].map((column) => {
      const value = (row as Record<string, unknown>)[column]
      return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value
    })
    return createHmac('sha256', this.key)
      .update(JSON.stringify([table, ...values]))
      .digest()
  }
}

/** Forged rows that are named. */
const MOST_FORGED = 1000
