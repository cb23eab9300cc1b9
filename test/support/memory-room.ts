/** Files that are memory, and bytes as they might arrive. */
import { ByteReader } from '../../src/openpgp/format/packet-stream.ts'
import type { RawFile, Room, RestingFile } from '../../src/openpgp/stream/resting.ts'

/** Bytes in memory in the place of a file; `bytesOnDisk` shows what a disk would hold. */
export class MemoryRoom implements Room {
  readonly files: MemoryFile[] = []

  file(): Promise<MemoryFile> {
    const file = new MemoryFile()
    this.files.push(file)
    return Promise.resolve(file)
  }

  get open(): number {
    return this.files.filter(({ isClosed }) => !isClosed).length
  }

  get bytesOnDisk(): Buffer {
    return Buffer.concat(this.files.map(({ content }) => content))
  }
}

export class MemoryFile implements RawFile {
  isClosed = false
  #pieces: Buffer[] = []

  get bytes(): number {
    return this.#pieces.reduce((sum, { length }) => sum + length, 0)
  }

  get content(): Buffer {
    return Buffer.concat(this.#pieces)
  }

  append(bytes: Uint8Array): Promise<void> {
    this.#pieces.push(Buffer.from(bytes))
    return Promise.resolve()
  }

  /** Loses what is behind so many bytes, as a disk might. */
  cut(bytes: number): void {
    this.#pieces = [this.content.subarray(0, bytes)]
  }

  read(at: number, bytes: number): Promise<Buffer> {
    return Promise.resolve(this.content.subarray(at, at + bytes))
  }

  close(): Promise<void> {
    this.isClosed = true
    return Promise.resolve()
  }
}

/** Bytes as they might arrive: in pieces of so many. */
export async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) {
    yield await Promise.resolve(bytes.subarray(at, at + size))
  }
}

export const readerOf = (bytes: Uint8Array, size = 65_536): ByteReader =>
  new ByteReader(inPieces(bytes, size))

/** All bytes of a file at rest, or of a part of it. */
export async function contentOf(file: RestingFile, start?: number, end?: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of file.read(start, end)) pieces.push(piece)
  return Buffer.concat(pieces)
}
