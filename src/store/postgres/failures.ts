/** Classifies errors of PostgreSQL, and of the connection to it. */
import { OperatorError, Refusal } from '../../errors.ts'
import { describeAddress, type DatabaseAddress } from './address.ts'

/** The refusal to open a store. */
interface RefusalText {
  code: OperatorError['code']
  what: (place: string, reason: string) => string
  hint: string
}

type FailureMeaning = (RefusalText | { code?: undefined }) & {
  /** SQLSTATEs (PostgreSQL, appendix A); two characters match their class. */
  states?: readonly string[]
  /** The whole database cannot be used, whichever schema was asked for. */
  isOfDatabase?: true
  /** The detail, in the refusal of a call. */
  detail?: string
}

const FAILURES = {
  /** Nothing usable answers. */
  lost: {
    // 25P03: silent for too long within a transaction
    states: ['08', '57P01', '57P02', '57P03', '57P05', '25P03', '53300'],
    isOfDatabase: true,
    detail: 'the database is out of reach',
    code: 'store-unreachable',
    what: (place, reason) => `the database ${place} is not reached (${reason})`,
    hint: 'start it, or correct store.url; nothing was changed',
  },
  login: {
    states: ['28'],
    isOfDatabase: true,
    code: 'store-login',
    what: (place) => `the database ${place} does not let this user in`,
    hint: 'correct user and password in store.url, or what pg_hba.conf allows',
  },
  tls: {
    isOfDatabase: true,
    code: 'store-tls',
    what: (place, reason) => `the database ${place} does not prove by TLS who it is (${reason})`,
    hint:
      'let the server have a certificate for this host name, and name the authority that signed ' +
      'it in store.caFile, or as sslrootcert in store.url',
  },
  missing: {
    states: ['3D000'],
    isOfDatabase: true,
    code: 'store-no-database',
    what: (place) => `there is no such database: ${place}`,
    hint: 'make it: CREATE DATABASE … OWNER …',
  },
  rights: {
    states: ['42501'],
    code: 'store-rights',
    what: (place) => `the database ${place} does not let this user make or use the store’s schema`,
    hint: 'let the user own the schema, or GRANT CREATE ON DATABASE for the first start',
  },
  /** A pooler is between this client and the database. */
  pooled: {
    // with connections of this client, only poolers send this code
    states: ['08P01'],
    isOfDatabase: true,
    detail: 'a pooler stands before the database',
    code: 'store-pooler',
    what: (place) => `a pooler stands before the database ${place}, and shares out its sessions`,
    hint: 'name the server itself in store.url: locks and settings are those of a session',
  },
  /** It is a standby. */
  'read-only': {
    states: ['25006'],
    isOfDatabase: true,
    detail: 'the database is out of reach',
    code: 'store-read-only',
    what: (place) => `the database ${place} takes no writes: it is a standby, or set read-only`,
    hint: 'name the primary in store.url, or promote this one',
  },
  /** Another database than before, or one behind the last known epoch or timeline. */
  'rolled-back': {
    isOfDatabase: true,
    detail: 'the database is behind what this sidecar has seen of it',
    code: 'store-rolled-back',
    what: (place) => `the database ${place} is behind what this sidecar has seen of it`,
    hint:
      'it is a former primary, a restored copy or another server: point store.url to the primary; ' +
      'to go on with what this one holds all the same, stop every sidecar and remove database.json ' +
      'from its dataDir',
  },
  /** The server cannot write or read its disk, or not in time, or a trigger of the operator's raises. */
  storage: {
    states: ['53', '55', '57', '58', 'P0', 'XX'],
    code: 'store-unwritable',
    what: (place, reason) => `the database ${place} cannot write or read its disk (${reason})`,
    hint: 'free space on its disk, or see its log; nothing was lost',
  },
  /** A lock was not granted in time. */
  blocked: {
    states: ['55P03'],
    code: 'store-in-use',
    what: (place) => `somebody keeps tables of the store in ${place} locked`,
    hint: 'see pg_stat_activity for who does, and end that',
  },
  /** Tables of ours are gone. */
  damaged: {
    states: ['3F000', '42P01', '42P07', '42703'],
    code: 'store-corrupt',
    what: (place, reason) => `the store in ${place} lacks tables of its own (${reason})`,
    hint:
      'bring a backup into another schema: `postern backup restore` into a folder, then ' +
      '`postern store move`',
  },
  /** The transaction has left nothing and may be run again; 22012: it began with a wrong guess. */
  again: { states: ['40', '22012', '23505'] },
  /** Any other, of ours. */
  mistake: {},
} satisfies Record<string, FailureMeaning>

/** The class of an error. */
export type FailureKind = keyof typeof FAILURES

const BY_STATE = new Map(
  Object.entries<FailureMeaning>(FAILURES).flatMap(([kind, { states = [] }]) =>
    states.map((state) => [state, kind as FailureKind] as const),
  ),
)

/** Refusals for exhausted resources of the server, by SQLSTATE. */
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

/** Codes of Node's for a connection that cannot be made, or ended. */
const LOST_CODES = new Set(
  `ECONNREFUSED ECONNRESET ECONNABORTED ENOENT EACCES EPIPE ETIMEDOUT EHOSTUNREACH ENETUNREACH
  EHOSTDOWN ENETDOWN EADDRNOTAVAIL ENOTFOUND EAI_AGAIN EAI_FAIL EAI_NODATA EMFILE ENFILE`.split(
    /\s+/,
  ),
)

/** A failure that our own code finds. */
export class PostgresError extends Error {
  readonly kind: FailureKind

  constructor(kind: FailureKind, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = new.target.name
    this.kind = kind
  }
}

/** The connection was lost while a commit was not answered: it may have been made. */
export class CommitLostError extends PostgresError {
  constructor(cause: unknown) {
    super('lost', 'the connection was lost at a commit', { cause })
  }
}

/** Thrown before a password is sent to a server that may be an impostor. */
export class UntrustedServerError extends PostgresError {
  readonly hint: string

  /** @param message goes on from the database: `asks for …` */
  constructor(message: string, hint: string) {
    super('login', message)
    this.hint = hint
  }
}

/** The refusal of a database that is not the one of before, or is behind it. */
export const rolledBack = (): PostgresError =>
  new PostgresError('rolled-back', 'the database is behind what was seen of it')

/** @param readOnly the server's `transaction_read_only` @throws PostgresError `read-only` */
export function requireWritable(readOnly: unknown): void {
  if (readOnly === 'on') throw new PostgresError('read-only', 'the database takes no writes')
}

/** The class of an error. */
export function kindOf(error: unknown): FailureKind {
  if (error instanceof PostgresError) return error.kind
  if (!(error instanceof Error)) return 'mistake'
  const { code, severity } = error as { code?: unknown; severity?: unknown }
  if (typeof code === 'string') {
    if (typeof severity === 'string') {
      return BY_STATE.get(code) ?? BY_STATE.get(code.slice(0, 2)) ?? 'mistake'
    }
    if (LOST_CODES.has(code)) return 'lost'
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

const failureOf = (error: unknown): FailureMeaning => FAILURES[kindOf(error)]

/** Whether an error is of the whole database, and not of one schema. */
export const isOfDatabase = (error: unknown): boolean => failureOf(error).isOfDatabase === true

/** Whether a query was cancelled, by its time limit or by an administrator. */
export const isCancelled = (error: unknown): boolean => codeOf(error) === '57014'

/** The refusal of a call that an error means; a mistake of ours stays as it is. */
export function toRefusal(error: unknown): unknown {
  if (kindOf(error) === 'mistake') return error
  const { detail = '' } = failureOf(error)
  return new Refusal('postern_store_unwritable', detail, { cause: error })
}

/** The refusal to open a store for an error; a programming mistake is returned unchanged. */
export function toOperator(error: unknown, address: DatabaseAddress): unknown {
  const place = describeAddress(address)
  if (error instanceof UntrustedServerError) {
    const message = `the database ${place} ${error.message}`
    return new OperatorError('store-login', message, error.hint, { cause: error })
  }
  const text = FULL[codeOf(error)] ?? failureOf(error)
  if (text.code === undefined) return error
  const message = text.what(place, reasonOf(error))
  return new OperatorError(text.code, message, text.hint, { cause: error })
}

/** A code, never a message: a server's message can contain any text. */
function reasonOf(error: unknown): string {
  const code = codeOf(error)
  if (/^\w{1,60}$/.test(code)) return code
  const isOurs = error instanceof PostgresError && error.kind === 'lost'
  return isOurs ? error.message : 'the connection ended'
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string' ? code : ''
}
