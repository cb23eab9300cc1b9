/** What only a store on PostgreSQL has, and the names of its locks. */
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { LockName } from '../store.ts'

export interface StateTable {
  /** 1: there is one row. */
  id: number
  /** The version of the schema, and the lowest version of a program that may use it. */
  version: number
  oldest: number
  /** Rises with every `write`, and with every note that changes what decisions rest on. */
  epoch: number
  /** The transaction that raised it last. */
  writer: number
}

export interface ChangesTable {
  relation: string
  key: string
  epoch: number
}

export interface PostgresSchema extends Schema {
  state: StateTable
  changes: ChangesTable
}

export type Database = Kysely<PostgresSchema>

/** The name of a schema as it stands in SQL. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/**
 * The number of an advisory lock, in SQL, of which the one parameter is `lockName`. `presence` is
 * held, shared, by whoever has the store open; `migrate` by who changes its schema or makes it.
 */
export const LOCK_NUMBER = `hashtextextended($1, 0)`

export function lockName(schema: string, name: 'presence' | 'migrate' | LockName): string {
  return `postern/${schema}/${name}`
}
