/** A client of pg that gives no password to whoever stands in the server's place. */
import type { EventEmitter } from 'node:events'
import { lstatSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Client, type ClientConfig } from 'pg'
import { isHeldFast, STICKY } from '../util/file-owners.ts'
import { destroyClient } from './client.ts'
import { UntrustedServerError } from './failures.ts'

const ANYBODY_WRITES = 0o002

/**
 * Without TLS, a port or a socket of the machine can be anybody's while the server is down. So the
 * server gets a SCRAM proof and never the password. By address it must prove that it knows the
 * password, where one is given (RFC 5802, 3); a socket is connected to only where nobody but its
 * owner can have put it there.
 */
export class DatabaseClient extends Client {
  constructor(config: ClientConfig = {}) {
    super(config)
    if (config.ssl) return
    const { connection } = this as unknown as Inside
    // Both a cleartext password and an MD5 hash, which is worth as much, leave through this.
    connection.password = () => this.#refuse(passwordRefused())
    if (!this.host.startsWith('/') && hasPassword(config)) this.#requireProof()
  }

  /** Refuses a server that lets us in before pg has checked its SCRAM signature. */
  #requireProof(): void {
    const inside = this as unknown as Inside
    let wasSession = false
    // Before pg's own listener, which ends the session when the signature is right.
    inside.connection.on('authenticationSASLFinal', () => {
      wasSession = typeof inside.saslSession === 'object' && inside.saslSession !== null
    })
    inside.connection.on('authenticationOk', () => {
      if (!wasSession || inside.saslSession !== null) this.#refuse(proofMissing())
    })
  }

  #refuse(error: Error): void {
    const { connection } = this as unknown as Inside
    // What came along may say that the server is ready.
    connection.removeAllListeners('readyForQuery')
    connection.emit('error', error)
    destroyClient(this)
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

/** The parts of pg's client that log in. */
interface Inside {
  connection: EventEmitter & { password: (text: string) => void }
  /** Absent before it begins, null once the server's signature was found right. */
  saslSession?: object | null
}

function hasPassword({ password }: ClientConfig): boolean {
  return (typeof password === 'function' ? password() : password) !== ''
}

const SCRAM =
  'use scram-sha-256 in pg_hba.conf and set the password anew (password_encryption = ' +
  'scram-sha-256), or sslmode=require in store.url'

const passwordRefused = (): Error =>
  new UntrustedServerError(
    'asks for the password itself, without TLS',
    `${SCRAM}; if the server is down, find out who listens in its place`,
  )

const proofMissing = (): Error =>
  new UntrustedServerError(
    'does not prove that it knows the password, without TLS',
    `${SCRAM}; or reach it through its socket; if the server is down, find out who listens in its place`,
  )

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
  // A socket in a shared folder is of whoever was first.
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
