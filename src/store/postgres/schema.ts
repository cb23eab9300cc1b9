/** Tables that only a store on PostgreSQL has, and the names of its locks. */
import type { Kysely } from 'kysely'
import { OperatorError } from '../../errors.ts'
import type { Schema } from '../schema.ts'
import type { LockName } from '../store.ts'

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
 * The process that asks: a number that its session has drawn, and the one advisory lock that it holds
 * at rest. A process whose number nobody holds has died, or lost its session.
 */
export const BEGIN_PROCESS = `
  WITH drawn AS MATERIALIZED (SELECT (random() * 9e15)::bigint AS process)
  SELECT set_config('postern.process', process::text, false), pg_advisory_lock(process) FROM drawn`
export const THIS_PROCESS = `current_setting('postern.process')::bigint`

/** The numbers of processes that live, among other numbers. */
export const LIVING = `
  SELECT classid::bigint << 32 | objid::bigint AS process FROM pg_locks
  WHERE locktype = 'advisory' AND granted AND objsubid = 1
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

/** The channel of the server on which processes notify each other of turns (`TurnWaits`). */
export const NOTIFIED = 'postern'

/** The table of a store's turns, and that of the processes that have it open. */
export const turnsOf = (schema: string): string => `${quoted(schema)}.turns`
export const presenceOf = (schema: string): string => `${quoted(schema)}.presence`

/**
 * The name of an advisory lock. `presence` keeps others from opening a store while one process needs
 * it alone; `migrate` is held while a process creates the schema or changes it.
 */
export const lockName = (schema: string, name: 'presence' | 'migrate' | LockName): string =>
  `postern/${schema}/${name}`
