/** Connections to PostgreSQL as the store uses them. */
import { types, type ClientBase, type ClientConfig } from 'pg'
import type { DatabaseAddress } from './address.ts'
import { PooledError } from './failures.ts'

/** What a connection is for: a session that lives long, or queries out of a pool. */
export type ClientUse = 'session' | 'pool'

/** How long a connection may take to be made, ms. */
export const CONNECT_MS = 1000
/** A transaction whose process says nothing for so long, stopped or cut off, is rolled back, ms. */
const SILENT_TRANSACTION_MS = 3500
/** What a statement may wait for a lock, and take in all, ms. */
const LOCK_MS = 10_000
/** The same for the session, which all stores of a process share: none holds the others up. */
const SESSION_LOCK_MS = 20
const STATEMENT_MS = 20_000
const INT8 = 20
const BYTEA = 17

/**
 * What the server is asked for at the start of a connection. A commit waits for the disk of the
 * server, and of its synchronous standby where it has one. A client that is gone without a word is
 * noticed within a minute.
 */
const SERVER_SETTINGS = {
  synchronous_commit: 'on',
  tcp_keepalives_idle: '15',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '3',
}

/** Options of a client of pg; nothing is taken from the environment. */
export function clientOptions(address: DatabaseAddress, use: ClientUse): ClientConfig {
  const { host, port, database, user, tls } = address
  const settings = Object.entries(SERVER_SETTINGS).map(([name, value]) => `-c ${name}=${value}`)
  return {
    host,
    port,
    database,
    user,
    password: () => address.password ?? '',
    ssl: tls === null ? false : { ...tls, rejectUnauthorized: true },
    application_name: 'postern',
    options: settings.join(' '),
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 15_000,
    types: { getTypeParser: parserOf as typeof types.getTypeParser },
    ...timeoutsOf(use),
    pipeline: true,
  }
}

const timeoutsOf = (use: ClientUse) => ({
  idle_in_transaction_session_timeout: SILENT_TRANSACTION_MS,
  lock_timeout: use === 'session' ? SESSION_LOCK_MS : LOCK_MS,
  statement_timeout: STATEMENT_MS,
})

/**
 * Sees that a connection has the settings that it asked for. A pooler gives a session of the server
 * now to one connection and now to another: to any of them the locks of the session are its own. It
 * cannot keep settings for each, and leaves out what a connection asks for, or refuses it.
 * @throws PooledError, an error of pg
 */
export async function requireSettings(client: ClientBase, use: ClientUse): Promise<void> {
  const timeouts = Object.entries(timeoutsOf(use)).map(
    ([name, ms]) => `current_setting('${name}')::interval = interval '${ms} ms'`,
  )
  const wanted = [`current_setting('synchronous_commit') = 'on'`, ...timeouts].join(' AND ')
  const { rows } = await client.query<{ kept: boolean }>(`SELECT ${wanted} AS kept`)
  if (rows[0]?.kept !== true) throw new PooledError()
}

/** The API's integers come as numbers, and bytes as Uint8Array, as SQLite gives them. */
const parserOf = (oid: number, format: 'text' = 'text'): ((text: string) => unknown) => {
  if (oid === INT8) return toInteger
  const parse = types.getTypeParser(oid, format)
  return oid === BYTEA ? (text) => new Uint8Array(parse(text) as Buffer) : parse
}

function toInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError('an integer in the store is too large')
  return value
}

/**
 * Parameters as PostgreSQL takes them: its text has no NUL, for which U+FFFD stands, in what is
 * written and in what is looked for.
 */
export function parametersOf(values: readonly unknown[]): unknown[] {
  return values.map((value) =>
    typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\u{FFFD}') : value,
  )
}

/** Ends a connection without a word: whatever waits on it is rejected. */
export function destroyClient(client: ClientBase): void {
  const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } })
    .connection
  stream.destroy()
}
