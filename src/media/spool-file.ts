import type { FileHandle } from 'node:fs/promises'
import { Refusal } from '../errors.ts'
import type { RawFile } from '../openpgp/index.ts'

/** The directory that a file is in. */
export interface SpoolFileOwner {
  /** Called before bytes are written. @throws Refusal when there is no room for them */
  reserve(bytes: number): void
  onClosed(): void
}

/** A file without a name. */
export class SpoolFile implements RawFile {
  readonly #handle: FileHandle
  readonly #owner: SpoolFileOwner
  #size = 0
  #closed: Promise<void> | null = null

  constructor(handle: FileHandle, owner: SpoolFileOwner) {
    this.#handle = handle
    this.#owner = owner
  }

  get bytes(): number {
    return this.#size
  }

  async append(bytes: Uint8Array): Promise<void> {
    this.#owner.reserve(bytes.length)
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
    this.#closed ??= this.#handle.close().finally(() => this.#owner.onClosed())
    await this.#closed
  }
}

/** Maps every error of the disk to one refusal. */
export async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw new Refusal('postern_store_unwritable', 'the spool of attachments', { cause })
  }
}
