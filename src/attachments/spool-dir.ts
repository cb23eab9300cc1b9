/**
 * Temporary files for attachments while they are opened and served: in the data directory, without
 * a name. They are gone with the process, however it ends.
 */
import { randomUUID } from 'node:crypto'
import { mkdir, open, unlink, type FileHandle } from 'node:fs/promises'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Refusal, busyRefusal, systemCodeOf } from '../errors.ts'
import type { RawFile, Room } from '../openpgp/index.ts'

const DIR_MODE = 0o700
const FILE_MODE = 0o600
const FOLDER = 'spool'
const RETRY_AFTER_SECONDS = 5

/** The spool directory of one sidecar. */
export class SpoolDir implements Room, AsyncDisposable {
  readonly #folder: string
  readonly #maxBytes: number
  readonly #files = new Set<SpoolFile>()

  /** @param dataDir of the store, which nobody else has open @param maxBytes of all files together */
  constructor(dataDir: string, maxBytes: number) {
    this.#folder = join(dataDir, FOLDER)
    this.#maxBytes = maxBytes
    this.#sweep()
  }

  /** Size of all files together. */
  get bytes(): number {
    return bytesOf(this.#files)
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
    const file = new SpoolFile(handle, this.#files, this.#maxBytes)
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

/** A file without a name. */
class SpoolFile implements RawFile {
  readonly #handle: FileHandle
  readonly #all: Set<SpoolFile>
  readonly #maxBytes: number
  #size = 0
  #closed: Promise<void> | null = null

  /** @param all files of the directory, which have at most `maxBytes` together */
  constructor(handle: FileHandle, all: Set<SpoolFile>, maxBytes: number) {
    this.#handle = handle
    this.#all = all
    this.#maxBytes = maxBytes
  }

  get bytes(): number {
    return this.#size
  }

  async append(bytes: Uint8Array): Promise<void> {
    if (bytesOf(this.#all) + bytes.length > this.#maxBytes) {
      throw busyRefusal('the spool of attachments is full', RETRY_AFTER_SECONDS)
    }
    const at = this.#size
    this.#size += bytes.length
    // A disk that is nearly full writes a part, without an error.
    for (let written = 0; written < bytes.length;) {
      const rest = bytes.length - written
      const { bytesWritten } = await onDisk(() =>
        this.#handle.write(bytes, written, rest, at + written),
      )
      written += bytesWritten
    }
  }

  async read(at: number, bytes: number): Promise<Buffer> {
    const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(bytes, this.#size - at)))
    for (let filled = 0; filled < buffer.length;) {
      const rest = buffer.length - filled
      const { bytesRead } = await onDisk(() => this.#handle.read(buffer, filled, rest, at + filled))
      if (bytesRead === 0) return buffer.subarray(0, filled)
      filled += bytesRead
    }
    return buffer
  }

  async close(): Promise<void> {
    this.#closed ??= this.#handle.close().finally(() => this.#all.delete(this))
    await this.#closed
  }
}

function bytesOf(files: Iterable<SpoolFile>): number {
  let sum = 0
  for (const file of files) sum += file.bytes
  return sum
}

/** Maps every error of the disk to one refusal. */
async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw new Refusal('postern_store_unwritable', 'the spool of attachments', { cause })
  }
}
