import { open, type FileHandle } from 'node:fs/promises'
import type { DatabaseSync } from 'node:sqlite'
import { errnoOf } from './files.ts'

/**
 * Flushes the write-ahead log to disk without blocking anything else. Afterwards, transactions that
 * were committed without waiting for the disk are on it (sqlite.org/wal.html).
 */
export class LogSync implements AsyncDisposable {
  readonly #database: DatabaseSync
  readonly #file: string
  #handle: FileHandle | null = null
  #running: Promise<void> = Promise.resolve()
  #next: Promise<void> | null = null
  #isSound = true
  /** Settles when nothing reads the database file any more. */
  #copied: Promise<unknown> = Promise.resolve()

  /** @param file where the log of the database lies; it need not be there yet */
  constructor(database: DatabaseSync, file: string) {
    this.#database = database
    this.#file = file
  }

  /** Runs a transaction whose COMMIT does not wait for the disk; nothing else may run meanwhile. */
  async unsynced<T>(transaction: () => Promise<T>): Promise<T> {
    this.#database.exec('PRAGMA synchronous=NORMAL')
    return await transaction().finally(() => this.#database.exec('PRAGMA synchronous=FULL'))
  }

  /**
   * Resolves when all that was written before the call is on the disk. Calls
   * during a flush share the next one.
   * @throws an error of node:fs
   */
  async sync(): Promise<void> {
    this.#next ??= this.#running
      .catch(() => {})
      .then(() => {
        this.#next = null
        this.#running = this.#bring()
        return this.#running
      })
    await this.#next
  }

  /**
   * Call it before each write. When a flush of the log has failed, the operating system drops the
   * unwritten pages, and later pages would be lost after that gap. So the whole log is checkpointed
   * into the database first, once a copy of it is made.
   * @throws an error of node:sqlite
   */
  async mend(): Promise<void> {
    if (this.#isSound) return
    await this.#copied
    this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    this.#isSound = true
  }

  /**
   * Checkpoints the whole log, and then lets the database file be copied: until that is done, all
   * that is written stays in the log, and the file is as it was at the call. Call it while nothing
   * else uses the connection, and not before the last copy is made.
   * @throws an error of node:sqlite
   */
  startCopy<T>(copy: () => Promise<T>): { copied: Promise<T> } {
    // with EXCLUSIVE locking nobody else can keep any of it back
    this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE); PRAGMA wal_autocheckpoint=0')
    const copied = copy().finally(() => this.#database.exec('PRAGMA wal_autocheckpoint=1000'))
    this.#copied = copied.catch(() => {})
    return { copied }
  }

  async #bring(): Promise<void> {
    try {
      this.#handle ??= await open(this.#file, 'r')
      await this.#handle.datasync()
    } catch (error) {
      // Nothing was ever written: there is no log yet.
      if (errnoOf(error) === 'ENOENT') return
      this.#isSound = false
      throw error
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running.catch(() => {})
    await this.#handle?.close()
    this.#handle = null
  }
}
