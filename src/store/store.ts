import type { Kysely, Transaction } from 'kysely'
import type { Unwritten } from '../kernel/index.ts'
import type { NewProtection } from './protection.ts'
import type { RowSeal } from './row-seal.ts'
import type { ProtectionMethod, Schema } from './schema.ts'

/**
 * Keys of the tables that decisions depend on and that are kept in memory: changes in them are
 * announced. They are read again in this order: first `protection`, which opens the others;
 * certificates before pins, whose changes affect trust.
 */
export const FOLLOWED_KEYS = {
  protection: 'id',
  own_keys: 'fingerprint',
  chats: 'id',
  forgotten: 'person',
  people: 'user_id',
  certificates: 'fingerprint',
  pins: 'user_id',
  key_changes: 'user_id',
  trust_policies: 'chat_id',
  clients: 'name',
  cursors: 'name',
  outbox: 'id',
  flags: 'name',
  webhook: 'id',
} as const satisfies { [Table in keyof Schema]?: keyof Schema[Table] }
export type FollowedTable = keyof typeof FOLLOWED_KEYS
export const FOLLOWED_TABLES = Object.keys(FOLLOWED_KEYS) as FollowedTable[]

/** Observations of one class that are not on disk yet. */
export type DueSightings = Unwritten<Transaction<Schema>>

/** What one transaction writes. */
export type Change<T> = (db: Transaction<Schema>) => Promise<T>

/**
 * `isOrdered`: decisions depend on the change, so it is in the order of writes. Otherwise another
 * sidecar may write at the same time: a decision based on an earlier read must be checked by the
 * write (a unique row, a condition of the statement); when it no longer holds, the change throws
 * OvertakenError and runs again. `isSingle`: one statement, without a transaction around it: one
 * query to a database instead of two.
 */
export type NoteOptions = { isOrdered?: boolean; isSingle?: boolean }

/**
 * `isShared`: together with others that share it; `isFresh`: as after `fresh` at the moment of
 * locking, without another query.
 */
export type LockOptions = { isShared?: boolean; isFresh?: boolean }

/** Reads rows of a table again, by their keys as text. */
export type Reread = (db: Kysely<Schema>, keys: readonly string[]) => Promise<void>

/**
 * What one sidecar at a time does for long: another can wait for it, and ask for it. `poll`: reads
 * the service's queue. `outbox`: sends what waits in the outbox.
 */
export type TurnName = 'poll' | 'outbox'
/**
 * `rotation`: changes the bot's key. `sends`: shared by sends, exclusive while the key is replaced.
 */
export type LockName = TurnName | 'rotation' | 'sends'

/**
 * The state of a store's database: `rolled-back`: it answers, and is behind the last known state
 * (a former primary, a restored copy, another server).
 */
export type Reachability = 'reachable' | 'unreachable' | 'rolled-back'

/** Gives an armored OpenPGP secret key locked anew; it must be seen to open before it is given. */
export type Relock = (locked: string, secrets: { from: string; to: string }) => Promise<string>

/** The remains of a move. */
export interface Moved {
  isScrubbed: boolean
  oldEntry: string | null
}

/** A lock that is held until it is disposed of, or lost. */
export interface StoreLock extends AsyncDisposable {
  /** False from the moment at which it may be somebody else's. Ask before each act. */
  readonly isHeld: boolean
  /** Aborts when it is lost. */
  readonly signal: AbortSignal
  /** Aborts when a sidecar that has fewer turns asks for this one, which it gets once it is given back. */
  readonly asked: AbortSignal
}

/** Traces put a span around these calls of a store, and replace no other method. */
export const TRACED_OF_STORE = ['read', 'write', 'note', 'fresh'] as const

/**
 * The state that survives a restart: a database file that one process at a time has open, or a
 * schema of PostgreSQL that several sidecars share.
 */
export interface Store extends AsyncDisposable {
  /**
   * Runs queries. Do not call it inside a `write`: it would wait for that write for ever.
   * @throws OperatorError `store-corrupt` when the database can no longer be read
   */
  read<T>(query: (db: Kysely<Schema>) => Promise<T>): Promise<T>
  /**
   * Runs one transaction; it is on disk (fsync) when this resolves, and has left nothing when it
   * rejects. Writes run one after the other, those of other sidecars included: values to write must
   * be computed inside `change`, which reads the earlier writes, in memory too. It may run again
   * when the database requires that.
   * @param onWritten called once it is on disk, before any other write begins
   * @throws Refusal `postern_store_unwritable` when the disk fails; else the error of `change`
   */
  write<T>(change: Change<T>, onWritten?: (result: T) => void): Promise<T>
  /**
   * The same for frequent changes that may be kept although this rejects, or run again after they
   * were kept: waiting for the disk holds nothing else up.
   */
  note<T>(change: Change<T>, o?: NoteOptions): Promise<T>
  /**
   * Registers an observer of the service. Its unwritten sightings are written before every `write`
   * and `note`, and tried again every second.
   */
  writeFirst(sightings: DueSightings): void
  /**
   * Resolves when all that was observed before the call is on disk.
   * @throws Refusal `postern_store_unwritable`
   */
  settle(): Promise<void>
  /**
   * Call it where a decision begins: resolves once everything that rests in memory is as any
   * sidecar of this store had written it by the time of the call (`follow`). One question to the
   * database, shared by those that ask together; a store of one process alone has nothing to ask.
   * Not inside a `write` or `note`.
   * @throws Refusal `postern_store_unwritable` when the database does not answer
   */
  fresh(): Promise<void>
  /**
   * The same for a bot at rest, where nothing is decided: asks no more often than every five seconds,
   * with more than a hundred stores in the process less often, and for many stores at once.
   * @throws Refusal `postern_store_unwritable` when the database does not answer
   */
  keepUp(): Promise<void>
  /**
   * Registers a cache of a table's rows. Call it before they are first read.
   * @param reread reads rows again that another sidecar has changed, by their keys as text; a
   *   deleted row must be dropped. Runs while nothing is written
   */
  follow(table: FollowedTable, reread: Reread): void
  /** Calls back when the database is lost, within two seconds, and when it is back. */
  onReachability(listener: (now: Reachability) => void): void
  /**
   * A lock by its name among all sidecars of this store; null while another one has it, or this
   * one. A store of one process alone always gives it.
   * @throws Refusal `postern_store_unwritable` when the database does not answer
   */
  tryLock(name: LockName, o?: LockOptions): Promise<StoreLock | null>
  /**
   * Resolves when nobody has a lock, within a second of its end, or when the signal aborts. All who
   * wait in a process share one query a second.
   */
  untilFree(name: TurnName, signal: AbortSignal): Promise<void>
  /**
   * Whether another sidecar has the turn by that name, or has asked for it in vain while this one did.
   * @throws Refusal `postern_store_unwritable` when the database does not answer
   */
  isWanted(name: TurnName): Promise<boolean>
  /** Grows with every `write` of any sidecar, once it was read; null: no other has it open. */
  readonly epoch: number | null
  /** Whether several sidecars can have it open. */
  readonly isShared: boolean
  /**
   * How many sidecars have it open, this one too, as of the last seconds, with many bots a minute.
   * @throws Refusal `postern_store_unwritable` when the database does not answer
   */
  countSidecars(): Promise<number>
  /** Calls back with false when a write has failed on the disk, with true when one works again. */
  onWritable(listener: (writable: boolean) => void): void
  /** The method of protection; null when the store has none and keeps no secrets. */
  readonly method: ProtectionMethod | null
  /**
   * The secret that OpenPGP secret keys are locked under: 256 random bits. Null when `method` is.
   * It changes when the protection is moved: a key must be locked under its value in the `write`
   * that stores the key.
   */
  readonly masterSecret: string | null
  /**
   * Moves everything secret to another protection, in one transaction: after an interruption all of
   * it is under the old one or all of it under the new one.
   * @param relock gives an OpenPGP key locked anew
   * @returns `isScrubbed`: the old material is gone from the files already, as `scrub` does it;
   *   `oldEntry`: the keychain entry that copies of the store still need, or null
   * @throws OperatorError `keychain`, `store-locked`: nothing changed; `store-unwritable`: it may
   *   have changed. Else the error of `relock`, with nothing changed
   */
  move(wanted: NewProtection, relock: Relock): Promise<Moved>
  /**
   * Copies the whole store, as it is at one moment, into a file of its own in the data directory
   * (mode 0600), still under its protection. The caller removes it.
   * @returns its path
   * @throws OperatorError `store-unwritable`
   */
  copy(): Promise<string>
  /**
   * A random secret of 32 bytes by its name, the same for the life of the store. It is made on
   * first use and rests under the protection.
   * @throws Refusal `postern_locked` when the store has no protection, `postern_store_unwritable`;
   *   OperatorError `store-corrupt` when it was changed
   */
  secret(name: string): Promise<Buffer>
  /**
   * Seals rows that grant or loosen, and checks them. Read and write those of `SEALED_COLUMNS` by it
   * alone.
   */
  readonly rowSeal: RowSeal
  /**
   * Seals bytes for the table `secrets`. Call it inside the `write` that writes them: bytes sealed
   * earlier may belong to a former protection.
   * @throws Refusal `postern_locked` when the store has no protection
   */
  seal(name: string, secret: Uint8Array): Buffer
  /** Undoes `seal` under the same name, directly after reading. @throws as `secret` does */
  unseal(name: string, sealed: Uint8Array): Buffer
  /**
   * Overwrites deleted data on disk, as far as that is possible: SQLite does so in the database
   * (secure_delete), this method in its log. Copies made by the file system or the disk remain.
   * @throws Refusal `postern_store_unwritable`
   */
  scrub(): Promise<void>
}
