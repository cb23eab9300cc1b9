/** Connections to PostgreSQL as the store uses them. */
import type { EventEmitter } from 'node:events'
import { lstatSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { Client, types, type ClientBase, type ClientConfig } from 'pg'
import { isHeldFast, STICKY } from '../../util/file-owners.ts'
import type { DatabaseAddress } from './address.ts'
import { PostgresError, UntrustedServerError } from './failures.ts'
import * as times from './times.ts'

/** The use of a connection: a session that lives long, or queries out of a pool. */
export type ClientUse = 'session' | 'pool'

const { INT8, BYTEA } = types.builtins
type TypeId = Parameters<typeof types.getTypeParser>[0]
const ANYBODY_WRITES = 0o002
/** SQLSTATE of a warning. */
const WARNING = '01000'

/**
 * Server settings at the start of a connection. A commit waits for the disk of the server, and of
 * its synchronous standby where it has one. A client that disappeared is noticed within a minute.
 */
const SERVER_SETTINGS =
  '-c synchronous_commit=on -c tcp_keepalives_idle=15 -c tcp_keepalives_interval=5 ' +
  '-c tcp_keepalives_count=3'

/** Options of a client of pg; none is read from the environment. */
export function clientOptions(address: DatabaseAddress, use: ClientUse): ClientConfig {
  const { host, port, database, user, tls } = address
  return {
    host,
    port,
    database,
    user,
    password: () => address.password ?? '',
    ssl: tls === null ? false : { ...tls, rejectUnauthorized: true },
    application_name: 'postern',
    // one that this client has no option for
    options: `${SERVER_SETTINGS} -c idle_session_timeout=${timeoutsOf(use).idle_session_timeout}`,
    connectionTimeoutMillis: times.CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 15_000,
    types: { getTypeParser: parserOf as typeof types.getTypeParser },
    ...timeoutsOf(use),
    pipeline: true,
  }
}

const timeoutsOf = (use: ClientUse) => ({
  idle_in_transaction_session_timeout: times.SILENT_TRANSACTION_MS,
  lock_timeout: use === 'session' ? times.SESSION_LOCK_MS : times.LOCK_MS,
  statement_timeout: times.STATEMENT_MS,
  // 0: for good
  idle_session_timeout: use === 'session' ? times.SILENT_SESSION_MS : 0,
})

/**
 * Sees that a connection has the settings that it asked for. A pooler gives a session of the server
 * now to one connection and now to another: to any of them the locks of the session are its own. It
 * cannot keep settings for each, and drops the settings of a connection, or refuses it.
 * @throws PostgresError `pooled`, an error of pg
 */
export async function requireSettings(client: ClientBase, use: ClientUse): Promise<void> {
  const timeouts = Object.entries(timeoutsOf(use)).map(
    ([name, ms]) => `current_setting('${name}')::interval = interval '${ms} ms'`,
  )
  const wanted = [`current_setting('synchronous_commit') = 'on'`, ...timeouts].join(' AND ')
  const { rows } = await client.query<{ kept: boolean }>(`SELECT ${wanted} AS kept`)
  if (rows[0]?.kept === true) return
  throw new PostgresError('pooled', 'the connection has not the settings that it asked for')
}

/** Decodes INT8 as the API's integers, and BYTEA as Uint8Array, as SQLite does. */
const parserOf = (oid: TypeId, format: 'text' = 'text'): ((text: string) => unknown) => {
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
 * Parameters for PostgreSQL, whose text cannot contain NUL: U+FFFD replaces NUL in values and in
 * conditions.
 */
export const parametersOf = (values: readonly unknown[]): unknown[] =>
  values.map((value) =>
    typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\u{FFFD}') : value,
  )

/**
 * A client of pg that sends no password to an impostor of the server. Without TLS, any process can
 * listen on a port or socket of the machine while the server is down. So the client sends a SCRAM
 * proof and never the password. By address, the server must prove that it knows the password, where
 * one is given (RFC 5802, 3); the client connects to a socket only where nobody but its owner can
 * have created it.
 */
export class DatabaseClient extends Client {
  /** The server has warned since this was last set. */
  isWarned = false

  constructor(config: ClientConfig = {}) {
    super(config)
    this.on('notice', ({ code }) => (this.isWarned ||= code === WARNING))
    if (config.ssl) return
    const { connection } = this.#inside
    // Both a cleartext password and an MD5 hash, which is worth as much, leave through this.
    connection.password = () =>
      this.#refuse('asks for the password itself, without TLS', `${SCRAM}; ${IMPOSTOR}`)
    if (!this.host.startsWith('/') && hasPassword(config)) this.#requireProof()
  }

  /** Refuses a server that lets us in before pg has checked its SCRAM signature. */
  #requireProof(): void {
    const inside = this.#inside
    let wasSession = false
    // Before pg's own listener, which ends the session when the signature is right.
    inside.connection.on('authenticationSASLFinal', () => {
      wasSession = typeof inside.saslSession === 'object' && inside.saslSession !== null
    })
    inside.connection.on('authenticationOk', () => {
      if (wasSession && inside.saslSession === null) return
      const hint = `${SCRAM}; or reach it through its socket; ${IMPOSTOR}`
      this.#refuse('does not prove that it knows the password, without TLS', hint)
    })
  }

  #refuse(message: string, hint: string): void {
    const { connection } = this.#inside
    // Messages that are already received could report the server as ready.
    connection.removeAllListeners('readyForQuery')
    connection.emit('error', new UntrustedServerError(message, hint))
    this.destroy()
  }

  /** Ends the connection at once: its pending queries are rejected. */
  destroy(): void {
    this.#inside.connection.stream.destroy()
  }

  /** Delays queries until `flush` was called as often. */
  hold(): void {
    this.#inside.connection.stream.cork()
  }

  flush(): void {
    this.#inside.connection.stream.uncork()
  }

  /** The protocol of TLS; null without TLS. */
  get tlsProtocol(): string | null {
    const { stream } = this.#inside.connection
    return stream.encrypted === true ? (stream.getProtocol?.() ?? null) : null
  }

  /** The number of the process that serves it at the server. */
  get pid(): number {
    return this.#inside.processID ?? 0
  }

  get #inside(): Inside {
    return this as unknown as Inside
  }

  override connect(): Promise<Client>
  override connect(callback: (error: Error) => void): void
  override connect(callback?: (error: Error) => void): Promise<Client> | void {
    const error = this.host.startsWith('/') ? socketProblem(this.host, this.port) : null
    if (error === null) return callback === undefined ? super.connect() : super.connect(callback)
    if (callback === undefined) return Promise.reject(error)
    process.nextTick(callback, error)
  }
}

/**
 * Uses a connection of its own, and ends it.
 * @param limitMs time limit of connecting and using it together
 * @throws the error of `use`; an error of pg, also past the time limit
 */
export async function withClient<T>(
  address: DatabaseAddress,
  limitMs: number,
  use: (client: DatabaseClient) => Promise<T>,
): Promise<T> {
  const client = new DatabaseClient(clientOptions(address, 'session'))
  // the pending query rejects with the error
  client.on('error', () => {})
  const timer = setTimeout(() => client.destroy(), limitMs)
  try {
    await client.connect()
    return await use(client)
  } finally {
    clearTimeout(timer)
    client.destroy()
  }
}

/** Parts of pg's client that its types leave out. */
interface Inside {
  processID: number | null
  connection: EventEmitter & {
    password: (text: string) => void
    stream: Pick<TLSSocket, 'destroy' | 'cork' | 'uncork'> & Partial<TLSSocket>
  }
  /** Absent before it begins, null once the server's signature was found right. */
  saslSession?: object | null
}

const hasPassword = ({ password }: ClientConfig): boolean =>
  (typeof password === 'function' ? password() : password) !== ''

const SCRAM =
  'use scram-sha-256 in pg_hba.conf and set the password anew (password_encryption = ' +
  'scram-sha-256), or sslmode=require in store.url'

const IMPOSTOR = 'if the server is down, find out who listens in its place'

/**
 * Why a server's socket is not connected to; null also where there is none. The server runs as a user
 * that nobody named: the one whose folder it is, this one, or root.
 */
function socketProblem(named: string, port: number): Error | null {
  const me = process.getuid?.()
  const path = join(named, `.s.PGSQL.${port}`)
  const socket = lstatSync(path, { throwIfNoEntry: false })
  if (me === undefined || socket === undefined) return null
  const folder = realpathSync(named)
  const { uid, mode } = statSync(folder)
  // In a shared folder anybody may have created the socket.
  const isShared = (mode & ANYBODY_WRITES) !== 0
  const owners = isShared ? [me, 0] : [me, 0, uid]
  if (!isHeldFast(folder, uid)) return socketRefused(`others may replace ${folder}`)
  if (isShared && (mode & STICKY) === 0) return socketRefused(`anybody may replace it (${folder})`)
  if (!socket.isSocket()) return socketRefused(`${path} is no socket`)
  return owners.includes(socket.uid) ? null : socketRefused(`${path} is user ${socket.uid}’s`)
}

const socketRefused = (reason: string): Error =>
  new UntrustedServerError(
    `has a socket that is not used: ${reason}`,
    'let the server have a folder of its own for its socket, in which nobody else may write ' +
      '(unix_socket_directories), or find out whose this one is; nothing was sent to it',
  )
