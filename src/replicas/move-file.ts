/** A data directory as one end of a move. */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { acquire } from '../store/acquire.ts'
import { alter } from '../store/backup.ts'
import type { ProtectionRequest } from '../store/choose.ts'
import { putInPlace, UNFINISHED } from '../store/create.ts'
import { checkDataDir, makeDataDir } from '../store/data-dir.ts'
import { syncDirectory } from '../store/files.ts'
import { DATABASE, explain, markIn, whatIsThere } from '../store/inspect.ts'
import { writeMark, type MoveMark } from '../store/move-mark.ts'
import { release } from '../store/owner.ts'
import type { MoveEnd } from './move-store.ts'
import { connectExclusive } from '../store/sqlite.ts'
import { fillFile, FileRows, type RowSource } from '../store/carry.ts'

/** A data directory; its store, if there is one, is ours alone until this is disposed of. */
export class FileMoveEnd implements MoveEnd {
  readonly #dataDir: string
  /** What was opened; null where there is no store, or none that is whole. */
  #database: DatabaseSync | null = null

  private constructor(dataDir: string) {
    this.#dataDir = dataDir
  }

  /**
   * Opens the store that moves away. One of an older version is brought up to date first.
   * @throws OperatorError as `openStore` does, but for `store-moved`
   */
  static async source(dataDir: string, request: ProtectionRequest): Promise<FileMoveEnd> {
    const end = new FileMoveEnd(dataDir)
    if (!checkDataDir(dataDir) || whatIsThere(dataDir) === 'none') return end
    const acquired = await acquire({ ...request, dataDir, mode: 'existing', isMoving: true })
    end.#database = acquired.database
    return end
  }

  /** Makes the folder that a store moves into, if it is not there. @throws OperatorError `data-dir` */
  static target(dataDir: string): FileMoveEnd {
    makeDataDir(dataDir)
    const end = new FileMoveEnd(dataDir)
    if (whatIsThere(dataDir) === 'database') end.#hold()
    return end
  }

  get place(): string {
    return this.#dataDir
  }

  find(): Promise<{ isStore: boolean; mark: MoveMark | null }> {
    const isStore = this.#database !== null
    return Promise.resolve({ isStore, mark: isStore ? markIn(this.#open) : null })
  }

  async withRows<T>(read: (rows: RowSource) => Promise<T>): Promise<T> {
    return await read(new FileRows(this.#open))
  }

  async receive(rows: RowSource, mark: MoveMark): Promise<void> {
    const unfinished = join(this.#dataDir, `${UNFINISHED}${randomUUID()}`)
    try {
      await fillFile(unfinished, rows)
      alter(unfinished, (database) => writeMark(database, mark))
      if (!putInPlace(unfinished, this.#dataDir)) throw new Error('a store appeared meanwhile')
      syncDirectory(this.#dataDir)
    } finally {
      for (const suffix of ['', '-wal', '-shm']) rmSync(unfinished + suffix, { force: true })
    }
    this.#hold()
  }

  setMark(mark: MoveMark | null): Promise<void> {
    writeMark(this.#open, mark)
    return Promise.resolve()
  }

  discard(): Promise<void> {
    this.#close()
    for (const suffix of ['', '-wal', '-shm']) {
      rmSync(join(this.#dataDir, `${DATABASE}${suffix}`), { force: true })
    }
    syncDirectory(this.#dataDir)
    return Promise.resolve()
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#close()
    release(this.#dataDir)
    return Promise.resolve()
  }

  #hold(): void {
    try {
      this.#database = connectExclusive(join(this.#dataDir, DATABASE))
    } catch (error) {
      throw explain(error, this.#dataDir)
    }
  }

  #close(): void {
    this.#database?.close()
    this.#database = null
  }

  get #open(): DatabaseSync {
    if (this.#database === null) throw new Error('there is no store')
    return this.#database
  }
}
