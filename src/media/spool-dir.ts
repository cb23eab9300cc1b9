/**
 * Temporary files for attachments while they are opened and served: in the data directory, without
 * a name. They are gone with the process, however it ends.
 */
import { randomUUID } from 'node:crypto'
import { mkdir, open, unlink } from 'node:fs/promises'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { busyRefusal, systemCodeOf } from '../errors.ts'
import type { RawFile, Room } from '../openpgp/index.ts'
import { SpoolFile, onDisk } from './spool-file.ts'

const DIR_MODE = 0o700
const FILE_MODE = 0o600
const FOLDER = 'spool'
const RETRY_AFTER_SECONDS = 5

/** The spool directory of one sidecar. */
export class SpoolDir implements Room, AsyncDisposable {
  readonly #folder: string
  readonly #maxBytes: number
  readonly #files = new Set<SpoolFile>()

  /**
   * @param dataDir of the store, which nobody else has open
   * @param maxBytes of all files together
   */
  constructor(dataDir: string, maxBytes: number) {
    this.#folder = join(dataDir, FOLDER)
    this.#maxBytes = maxBytes
    this.#sweep()
  }

  /** Size of all files together. */
  get bytes(): number {
    let sum = 0
    for (const file of this.#files) sum += file.bytes
    return sum
  }

  /** @throws Refusal `postern_store_unwritable` when no file can be created */
  async file(): Promise<RawFile> {
    const path = join(this.#folder, randomUUID())
    const handle = await onDisk(async () => {
      const opened = await open(path, 'wx+', FILE_MODE).catch(async (error: unknown) => {
        if (systemCodeOf(error) !== 'ENOENT') throw error
        // Not its parents: a data directory that was removed stays removed.
        await mkdir(this.#folder, { mode: DIR_MODE }).catch((failure: unknown) => {
          if (systemCodeOf(failure) !== 'EEXIST') throw failure
        })
        return await open(path, 'wx+', FILE_MODE)
      })
      await unlink(path)
      return opened
    })
    const file = new SpoolFile(handle, {
      reserve: (bytes) => {
        if (this.bytes + bytes > this.#maxBytes)
          throw busyRefusal('the spool of attachments is full', RETRY_AFTER_SECONDS)
      },
      onClosed: () => this.#files.delete(file),
    })
    this.#files.add(file)
    return file
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#files].map((file) => file.close()))
    this.#sweep()
  }

  /** Removes files of a process that ended between creating a file and unlinking its name. */
  #sweep(): void {
    try {
      for (const name of readdirSync(this.#folder)) rmSync(join(this.#folder, name))
    } catch {
      // There is no folder yet; and remaining files cannot be read without their key, which is
      // gone.
    }
  }
}
