import type { FileHandle } from 'node:fs/promises'
import { Refusal } from '../errors.ts'
import type { RawFile } from '../pgp/stream/raw-file.ts'

/** What a file tells the spool that it is in. */
export interface SpoolTicket {
  /** Asked before octets are written. @throws Refusal when there is no room for them */
  admit(octets: number): void
  closed(): void
}

/** A file without a name. */
export class SpoolFile implements RawFile {
  readonly #handle: FileHandle
  readonly #ticket: SpoolTicket
  #octets = 0
  #closed: Promise<void> | null = null

  constructor(handle: FileHandle, ticket: SpoolTicket) {
    this.#handle = handle
    this.#ticket = ticket
  }

  get bytes(): number {
    return this.#octets
  }

  async append(octets: Uint8Array): Promise<void> {
    this.#ticket.admit(octets.length)
    const at = this.#octets
    this.#octets += octets.length
    // A disk that is nearly full takes a part and says nothing.
    for (let written = 0; written < octets.length;) {
      const rest = octets.length - written
      const { bytesWritten } = await onDisk(() =>
        this.#handle.write(octets, written, rest, at + written),
      )
      written += bytesWritten
    }
  }

  async read(at: number, octets: number): Promise<Buffer> {
    const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(octets, this.#octets - at)))
    for (let filled = 0; filled < buffer.length;) {
      const rest = buffer.length - filled
      const { bytesRead } = await onDisk(() => this.#handle.read(buffer, filled, rest, at + filled))
      if (bytesRead === 0) return buffer.subarray(0, filled)
      filled += bytesRead
    }
    return buffer
  }

  async close(): Promise<void> {
    this.#closed ??= this.#handle.close().finally(() => this.#ticket.closed())
    await this.#closed
  }
}

/** Whatever a disk fails with is one thing to whoever waits for a file. */
export async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw new Refusal('postern_store_unwritable', 'the spool of attachments', { cause })
  }
}
