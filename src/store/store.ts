import type { Kysely, Transaction } from 'kysely'
import type { Moved, Relock } from './move.ts'
import type { NewProtection } from './protection.ts'
import type { Method, Schema } from './schema.ts'

/** What survives a restart. One process at a time has it open. */
export interface Store extends AsyncDisposable {
  /**
   * Runs queries. Do not call it inside a `write`: it would wait for that write for ever.
   * @throws OperatorError `store-corrupt` when the database can no longer be read
   */
  read<T>(query: (db: Kysely<Schema>) => Promise<T>): Promise<T>
  /**
   * Runs one transaction; it is on disk (fsync) when this resolves, and has left nothing when it
   * rejects. Writes run one after the other.
   * @throws Refusal `postern_store_unwritable` when the disk fails; else what `change` throws
   */
  write<T>(change: (db: Transaction<Schema>) => Promise<T>): Promise<T>
  /**
   * The same for what does no harm if it is kept although this rejects, and is written all the
   * time: waiting for the disk holds nothing else up.
   */
  note<T>(change: (db: Transaction<Schema>) => Promise<T>): Promise<T>
  /** Calls back with false when a write has failed on the disk, with true when one works again. */
  onWritable(listener: (writable: boolean) => void): void
  /** What the store rests under; null when it has no protection and keeps no secrets. */
  readonly method: Method | null
  /**
   * What the OpenPGP secret keys are locked under: 256 random bits, or, in a store of before that
   * was not upgraded yet, the passphrase. Null when `method` is. It changes when the protection is
   * moved: a key that is written must be locked under what it is in that `write`.
   */
  readonly masterSecret: string | null
  /**
   * Moves everything secret to another protection, in one transaction: whatever happens, all of it
   * rests under the old one or all of it under the new one.
   * @param relock gives an OpenPGP key locked anew
   * @returns `isScrubbed`: the old material is gone from the files already, as `scrub` does it;
   *   `oldEntry`: what stays in the keychain for copies of the store, or null
   * @throws OperatorError `keychain`, `store-locked`: nothing changed; `store-unwritable`: it may
   *   have changed. Else what `relock` throws, with nothing changed
   */
  move(wanted: NewProtection, relock: Relock): Promise<Moved>
  /**
   * Brings a store in which everything was locked under the passphrase itself under a random master
   * secret, in one transaction; what opens it stays. Also scrubs what a process that died while it
   * locked anew has left. Does nothing in a store where nothing is due.
   * @returns whether it was such a store
   * @throws OperatorError `store-corrupt`, `store-unwritable`; what `relock` throws, with nothing
   *   changed
   */
  upgrade(relock: Relock): Promise<boolean>
  /**
   * Copies the whole store, as it is at one moment, into a file of its own in the data directory
   * (mode 0600), still under its protection. Whoever asked takes it away.
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
   * Seals bytes for the table `secrets`. Call it inside the `write` that writes them: what was sealed
   * before it may belong to a protection that was moved away since.
   * @throws Refusal `postern_locked` when the store has no protection
   */
  seal(name: string, secret: Uint8Array): Buffer
  /** Opens what `seal` made under the same name, as soon as it is read. @throws as `secret` does */
  unseal(name: string, sealed: Uint8Array): Buffer
  /**
   * Overwrites on disk what was deleted, as far as that is possible: in the database SQLite does it
   * (secure_delete), in its log this does. What the file system or the disk copied elsewhere stays.
   * @throws Refusal `postern_store_unwritable`
   */
  scrub(): Promise<void>
}
