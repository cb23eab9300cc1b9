/** What an error of PostgreSQL, or of the way to it, means. */
import { OperatorError } from '../errors.ts'
import { describeAddress, type DatabaseAddress } from './address.ts'

/**
 * `lost`: nothing usable answers; `login`, `tls`, `missing`, `rights`: the settings or the server's
 * must change; `pooled`: a pooler stands before it; `read-only`: it is a standby; `rolled-back`: it
 * is behind what was seen of it; `storage`: the server cannot write or read its disk, or not in time;
 * `blocked`: somebody keeps tables locked; `damaged`: tables of ours are gone; `again`: the
 * transaction has left nothing and may be run again; `mistake`: any other, of ours.
 */
export type FailureKind =
  | 'lost'
  | 'login'
  | 'tls'
  | 'missing'
  | 'rights'
  | 'pooled'
  | 'read-only'
  | 'rolled-back'
  | 'storage'
  | 'blocked'
  | 'damaged'
  | 'again'
  | 'mistake'

/** What is the matter with the whole database, whichever schema was asked for. */
const OF_THE_DATABASE: readonly FailureKind[] = [
  'lost',
  'login',
  'tls',
  'missing',
  'pooled',
  'read-only',
  'rolled-back',
]

/** Whether an error says of the whole database that it cannot be used, and not of one schema. */
export function isOfTheDatabase(error: unknown): boolean {
  return OF_THE_DATABASE.includes(kindOf(error))
}

/** Thrown by our own code when a connection was given up. */
export class ConnectionLostError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'ConnectionLostError'
  }
}

/** Thrown where the connection was lost while a commit was not answered: it may have been made. */
export class CommitLostError extends ConnectionLostError {
  constructor(cause: unknown) {
    super('the connection was lost at a commit', { cause })
  }
}

/** Whether a query was cancelled, by its time limit or by an administrator. */
export const isCancelled = (error: unknown): boolean => codeOf(error) === '57014'

/** Thrown where a pooler hands on a connection without the settings that it asked for. */
export class PooledError extends Error {
  constructor() {
    super('the connection has not the settings that it asked for')
    this.name = 'PooledError'
  }
}

/** Thrown before a password is given to what may stand in the server's place. */
export class UntrustedServerError extends Error {
  readonly hint: string

  /** @param message goes on from the database: `asks for …` */
  constructor(message: string, hint: string) {
    super(message)
    this.name = 'UntrustedServerError'
    this.hint = hint
  }
}

/** Thrown where the database answers, and takes no writes. */
export class ReadOnlyDatabaseError extends Error {
  constructor() {
    super('the database takes no writes')
    this.name = 'ReadOnlyDatabaseError'
  }
}

/** Thrown where the database is not the one of before, or is behind it. */
export class RolledBackError extends Error {
  constructor() {
    super('the database is behind what was seen of it')
    this.name = 'RolledBackError'
  }
}

/** Thrown where a commit is on the disk of the server, and may not be on that of its standby. */
export class UnreplicatedError extends Error {
  constructor() {
    super('the standby has not confirmed the commit')
    this.name = 'UnreplicatedError'
  }
}

/** By SQLSTATE (PostgreSQL, appendix A); a class of two characters stands for all of it. */
const BY_STATE: Readonly<Record<string, FailureKind>> = {
  '08': 'lost',
  // of connections that are made by our library, only poolers say so
  '08P01': 'pooled',
  '57P01': 'lost',
  '57P02': 'lost',
  '57P03': 'lost',
  '57P05': 'lost',
  // silent for too long within a transaction
  '25P03': 'lost',
  '53300': 'lost',
  '28': 'login',
  '3D000': 'missing',
  '42501': 'rights',
  '25006': 'read-only',
  '53': 'storage',
  '55': 'storage',
  '57': 'storage',
  '58': 'storage',
  // raised by a trigger of the operator's
  P0: 'storage',
  XX: 'storage',
  '40': 'again',
  // cancelled, by its time limit or by an administrator
  '57014': 'storage',
  // not granted a lock in time
  '55P03': 'blocked',
  '3F000': 'damaged',
  '42P01': 'damaged',
  '42P07': 'damaged',
  '42703': 'damaged',
}

/** Codes of Node's for a connection that cannot be made, or ended. */
const BY_CODE = new Set(
  `ECONNREFUSED ECONNRESET ECONNABORTED ENOENT EACCES EPIPE ETIMEDOUT EHOSTUNREACH ENETUNREACH
  EHOSTDOWN ENETDOWN EADDRNOTAVAIL ENOTFOUND EAI_AGAIN EAI_FAIL EAI_NODATA EMFILE ENFILE`.split(
    /\s+/,
  ),
)

/** What an error means; see `FailureKind`. */
export function kindOf(error: unknown): FailureKind {
  if (error instanceof ConnectionLostError) return 'lost'
  if (error instanceof PooledError) return 'pooled'
  if (error instanceof ReadOnlyDatabaseError) return 'read-only'
  if (error instanceof RolledBackError) return 'rolled-back'
  if (error instanceof UnreplicatedError) return 'storage'
  if (error instanceof UntrustedServerError) return 'login'
  if (!(error instanceof Error)) return 'mistake'
  const { code, severity } = error as { code?: unknown; severity?: unknown }
  if (typeof code === 'string') {
    if (typeof severity === 'string') {
      return BY_STATE[code] ?? BY_STATE[code.slice(0, 2)] ?? 'mistake'
    }
    if (BY_CODE.has(code)) return 'lost'
    if (/CERT|^ERR_(SSL|TLS)|^EPROTO$|ISSUER|SIGNATURE|CRL/.test(code)) return 'tls'
  }
  // the password, and the server's knowledge of it
  if (error.message.startsWith('SASL: ')) return 'login'
  if (/does not support SSL|establishing an SSL/.test(error.message)) return 'tls'
  // pg gives these no code
  return /^(Connection terminated|timeout e|Client has encountered|Client was closed)/.test(
    error.message,
  )
    ? 'lost'
    : 'mistake'
}

interface RefusalText {
  code: OperatorError['code']
  what: (place: string, reason: string) => string
  hint: string
}

const REFUSED: Partial<Record<FailureKind, RefusalText>> = {
  lost: {
    code: 'store-unreachable',
    what: (place, reason) => `the database ${place} is not reached (${reason})`,
    hint: 'start it, or correct store.url; nothing was changed',
  },
  login: {
    code: 'store-login',
    what: (place) => `the database ${place} does not let this user in`,
    hint: 'correct user and password in store.url, or what pg_hba.conf allows',
  },
  tls: {
    code: 'store-tls',
    what: (place, reason) => `the database ${place} does not prove by TLS who it is (${reason})`,
    hint:
      'let the server have a certificate for this host name, and name the authority that signed ' +
      'it in store.caFile, or as sslrootcert in store.url',
  },
  missing: {
    code: 'store-no-database',
    what: (place) => `there is no such database: ${place}`,
    hint: 'make it: CREATE DATABASE … OWNER …',
  },
  rights: {
    code: 'store-rights',
    what: (place) => `the database ${place} does not let this user make or use the store’s schema`,
    hint: 'let the user own the schema, or GRANT CREATE ON DATABASE for the first start',
  },
  pooled: {
    code: 'store-pooler',
    what: (place) => `a pooler stands before the database ${place}, and shares out its sessions`,
    hint: 'name the server itself in store.url: locks and settings are those of a session',
  },
  'read-only': {
    code: 'store-read-only',
    what: (place) => `the database ${place} takes no writes: it is a standby, or set read-only`,
    hint: 'name the primary in store.url, or promote this one',
  },
  'rolled-back': {
    code: 'store-rolled-back',
    what: (place) => `the database ${place} is behind what this sidecar has seen of it`,
    hint:
      'it is a former primary, a restored copy or another server: point store.url to the primary; ' +
      'to go on with what this one holds all the same, stop every sidecar and remove database.json ' +
      'from its dataDir',
  },
  storage: {
    code: 'store-unwritable',
    what: (place, reason) => `the database ${place} cannot write or read its disk (${reason})`,
    hint: 'free space on its disk, or see its log; nothing was lost',
  },
  blocked: {
    code: 'store-in-use',
    what: (place) => `somebody keeps tables of the store in ${place} locked`,
    hint: 'see pg_stat_activity for who does, and end that',
  },
  damaged: {
    code: 'store-corrupt',
    what: (place, reason) => `the store in ${place} lacks tables of its own (${reason})`,
    hint:
      'bring a backup into another schema: `postern backup restore` into a folder, then ' +
      '`postern store move`',
  },
}

/** What the server has no room for, by SQLSTATE. */
const FULL: Readonly<Record<string, RefusalText>> = {
  '53300': {
    code: 'store-unreachable',
    what: (place) => `the database ${place} has no more connections`,
    hint:
      'raise max_connections (each sidecar takes up to 9, one of several bots up to 17), or ' +
      'see pg_stat_activity for who has them',
  },
  '53200': {
    code: 'store-unreachable',
    what: (place) => `the database ${place} has no more room for locks`,
    hint: 'raise max_locks_per_transaction or max_connections; a bot takes up to five locks in each process',
  },
}

/** The refusal to open a store that an error means; what is a mistake stays as it is. */
export function toOperator(error: unknown, address: DatabaseAddress): unknown {
  if (error instanceof UntrustedServerError) {
    const message = `the database ${describeAddress(address)} ${error.message}`
    return new OperatorError('store-login', message, error.hint, { cause: error })
  }
  const text = FULL[codeOf(error)] ?? REFUSED[kindOf(error)]
  if (text === undefined) return error
  const message = text.what(describeAddress(address), reasonOf(error))
  return new OperatorError(text.code, message, text.hint, { cause: error })
}

/** A code, never a message: a server may say anything in one. */
function reasonOf(error: unknown): string {
  const code = codeOf(error)
  if (/^\w{1,60}$/.test(code)) return code
  return error instanceof ConnectionLostError ? error.message : 'the connection ended'
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string' ? code : ''
}
