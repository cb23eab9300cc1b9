/** Tables that only a store on PostgreSQL has, and the names of its locks. */
import type { Kysely } from 'kysely'
import { OperatorError } from '../errors.ts'
import type { Schema } from '../store/schema.ts'
import type { LockName } from '../store/store.ts'

export interface PostgresSchema extends Schema {
  state: {
    /** 1: there is one row. */
    id: number
    /** The version of the schema, and the lowest version of a program that may use it. */
    version: number
    oldest: number
    /** Rises with every `write`, and with every note that changes a basis of decisions. */
    epoch: number
    /** The transaction that raised it last. */
    writer: number
  }
  changes: { relation: string; key: string; epoch: number }
}

export type Database = Kysely<PostgresSchema>

/** PostgreSQL silently truncates longer names, so that two names could be one schema. */
const MAX_SCHEMA_BYTES = 63

/** @throws OperatorError `settings` when PostgreSQL would truncate the name */
export function checkSchemaName(schema: string): void {
  const bytes = Buffer.byteLength(schema)
  if (bytes <= MAX_SCHEMA_BYTES) return
  throw new OperatorError(
    'settings',
    `the name of the schema has ${bytes} bytes, and PostgreSQL takes ${MAX_SCHEMA_BYTES}`,
    'give the bot a store.schema of its own, or a shorter name',
  )
}

/** Quotes an identifier for SQL. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** Whether the session may write: never on a standby, whose answers may be behind, too. */
export const IS_READ_ONLY = `current_setting('transaction_read_only') AS read_only`

/** The query for a store's epoch, and whether its server is read-only. */
export const epochIn = (schema: string): string =>
  `SELECT epoch, ${IS_READ_ONLY} FROM ${quoted(schema)}.state`

/**
 * The name of an advisory lock. Each process that has the store open holds `presence`, shared;
 * `migrate` is held while a process creates the schema or changes it.
 */
export function lockName(schema: string, name: 'presence' | 'migrate' | LockName): string {
  return `postern/${schema}/${name}`
}
