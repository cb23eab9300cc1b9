/**
 * The types of a store's tables, by the columns that `tables.ts` declares. Every time is in milliseconds since the Unix epoch; identifiers of chats, people and messages are
 * the API's integers.
 */
import type { Generated, Selectable } from 'kysely'
import type { TABLES } from './tables.ts'

/**
 * The protection of a store. Everything secret is locked under a master secret of 256 random bits,
 * and that alone is sealed by the method: under the operator's passphrase, through a slow derivation;
 * under a random secret in the OS keychain; under a random secret that a command of the operator's
 * wraps; or under a random secret in the store itself, which protects nothing.
 */
export const METHODS = ['passphrase', 'keychain', 'exec', 'none'] as const
export type ProtectionMethod = (typeof METHODS)[number]

/** The texts of a list in SQL. */
type Listed<List> = List extends `'${infer One}'${infer More}`
  ? One | Listed<More extends `, ${infer Rest}` ? Rest : never>
  : never

/** The values of a column. */
type ColumnValue<Column> = Column extends `${string} IN (${infer List})${string}`
  ? Listed<List>
  : Column extends `TEXT${string}`
    ? string
    : Column extends `INTEGER${string}`
      ? number
      : Uint8Array

type NullableOf<Column> = Column extends `${string}NOT NULL${string}`
  ? ColumnValue<Column>
  : ColumnValue<Column> | null

/** A column for Kysely, which need not be inserted where it has a default. */
type ColumnOf<Column> = Column extends `${string}${'DEFAULT' | 'AUTOINCREMENT'}${string}`
  ? Generated<NullableOf<Column>>
  : NullableOf<Column>

type TableOf<Columns> = { -readonly [Name in keyof Columns]: ColumnOf<Columns[Name]> }

/** The tables of a store, for Kysely. */
export type Schema = { -readonly [Name in keyof typeof TABLES]: TableOf<(typeof TABLES)[Name]> }

/** A row of a table as it is read. */
export type SchemaRow<Table extends keyof Schema> = Selectable<Schema[Table]>

export type ProtectionTable = SchemaRow<'protection'>

/** How the key of a protection is derived, and at what cost. */
export type KeyDerivation = Pick<ProtectionTable, 'derivation' | 'n' | 'r' | 'p'>
