/** Rows that grant or loosen: each carries a MAC under a secret of the store over its identity and value. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { Listeners } from '../util/listeners.ts'
import type { Schema, SchemaRow } from './schema.ts'

type Words<Text extends string> = Text extends `${infer One} ${infer Rest}`
  ? One | Words<Rest>
  : Text
const words = <Text extends string>(text: Text) =>
  text.split(' ') as unknown as readonly Words<Text>[]

/** The columns that the MAC of a row covers, its key first. */
export const SEALED_COLUMNS = {
  own_keys: words(
    'fingerprint certificate state created_at offered_at published_at retired_at destroyed_at',
  ),
  chats: words('id kind person_id latched_at'),
  // the digest covers the copy
  certificates: words('fingerprint owner revoked_armored copy_digest'),
  encryption_keys: words('key_id user_id since'),
  presses: words('id chat_id seen_at'),
  client_rates: words('name next_at'),
  media: words('id chat_id sender named_at digest'),
  pins: words(
    'user_id fingerprint since standing listed listed_at former former_at former_pinned vouched',
  ),
  trust_policies: words('chat_id policy'),
  flags: words('name value'),
  clients: words('name credential allows created_at'),
  outbox: [
    ...words('id state chat_id message_id is_for_sealed client credential created_at due_at call'),
    ...words('approval code sent_id settled_at'),
  ],
  forgotten: words('person pin standing since vouched'),
  // the hash covers the content, and all entries before it
  journal: words('hash place'),
  journal_heads: words('entry hash kept'),
} as const satisfies { [Table in keyof Schema]?: readonly (keyof Schema[Table] & string)[] }

export type SealedTable = keyof typeof SEALED_COLUMNS
type Covered<T extends SealedTable> = Pick<
  SchemaRow<T>,
  (typeof SEALED_COLUMNS)[T][number] & keyof SchemaRow<T>
>
type Mac = { mac: Uint8Array | null }

/** The columns of a row that its MAC covers, its key among them. */
export const coveredOf = (table: SealedTable, row: object): Record<string, unknown> =>
  Object.fromEntries(
    SEALED_COLUMNS[table].map((column) => [column, (row as Record<string, unknown>)[column]]),
  )

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
      const key = String(Object.values(coveredOf(table, row))[0])
      const isNew = !this.#forged.has(`${table} ${key}`)
      if (this.#forged.size < MOST_FORGED) this.#forged.set(`${table} ${key}`, { table, key })
      if (isNew) this.#found.emit()
      return false
    })
  }

  #macOf(table: SealedTable, row: object): Buffer | null {
    if (this.key === null) return null
    const values = Object.values(coveredOf(table, row)).map((value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
    )
    return createHmac('sha256', this.key)
      .update(JSON.stringify([table, ...values]))
      .digest()
  }
}

/** Forged rows that are named. */
const MOST_FORGED = 1000
