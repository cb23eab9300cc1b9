/**
 * A document at rest: on the disk there is only ciphertext, in CFB, under a key in memory alone.
 * A document that arrived encrypted in that mode stays in its container.
 */
import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from 'node:crypto'
import { CIPHERS } from '../format/ciphers.ts'

/** Where bytes rest on a disk while they are needed; nobody else reads or writes them. */
export interface RawFile {
  /** How many bytes were appended so far. */
  readonly bytes: number
  /**
   * Appends; the place in the file is reserved at once, so that appends may overlap.
   * @param bytes not to be changed before it resolves
   * @throws Refusal when the disk is full
   */
  append(bytes: Uint8Array): Promise<void>
  /** Bytes from a place on; fewer only at the end. */
  read(at: number, bytes: number): Promise<Buffer>
  /** Gives the room back. It may be called more than once. */
  close(): Promise<void>
}

/** Makes such files. */
export interface Room {
  /** @throws Refusal when there is no room for another */
  file(): Promise<RawFile>
}

const WINDOW_BYTES = 65_536
const WRITE_BYTES = 262_144
const CIPHER = CIPHERS.aes256

interface RestingParts {
  /** Of the document in the file's plain text. */
  extents: Extents
  /** Bytes of a block of the cipher. */
  block: number
  /**
   * Begins to decrypt the file, in pieces of whole blocks.
   * @param before the ciphertext block before the first; absent: the first is the first
   */
  decipher: (before?: Uint8Array) => { update(bytes: Uint8Array): Buffer }
}

/** A document that can be read from any byte on, as often as wanted. */
export class RestingFile {
  readonly #raw: RawFile
  readonly #parts: RestingParts

  constructor(raw: RawFile, parts: RestingParts) {
    this.#raw = raw
    this.#parts = parts
  }

  get bytes(): number {
    return this.#parts.extents.bytes
  }

  /** Bytes on the disk. */
  get restingBytes(): number {
    return this.#raw.bytes
  }

  /** Gives the bytes from `start` up to `end`, in pieces of at most 64 KiB. */
  async *read(start = 0, end = this.bytes): AsyncGenerator<Buffer> {
    const { extents } = this.#parts
    for (let at = start; at < end;) {
      const { from, plain } = await this.#window(extents.positionOf(at))
      const stretches = [...extents.between(at, end, from + plain.length)]
      const pieces = stretches.map(({ position, bytes }) =>
        plain.subarray(position - from, position - from + bytes),
      )
      const piece = pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces)
      if (piece.length === 0) throw new Error('the file at rest is shorter than it was')
      at += piece.length
      yield piece
    }
  }

  async close(): Promise<void> {
    await this.#raw.close()
  }

  /** Plain text around a position of the file, from the block on that it is in. */
  async #window(position: number): Promise<{ from: number; plain: Buffer }> {
    const { block, decipher } = this.#parts
    const from = position - (position % block)
    const start = Math.max(0, from - block)
    const bytes = await this.#raw.read(start, from - start + WINDOW_BYTES)
    const before = from === 0 ? undefined : bytes.subarray(0, block)
    return { from, plain: decipher(before).update(bytes.subarray(from - start)) }
  }
}

/** Puts a document to rest under a key of its own. */
export class RestingWriter {
  readonly #raw: RawFile
  readonly #key = createSecretKey(randomBytes(CIPHER.keyBytes))
  // The key is for this one file, so that its vector need not differ from another's.
  readonly #start: Uint8Array = Buffer.alloc(CIPHER.blockBytes)
  readonly #cipher = createCipheriv(CIPHER.cfb, this.#key, this.#start)
  readonly #gathered = new Uint8Array(WRITE_BYTES)
  #filled = 0

  constructor(raw: RawFile) {
    this.#raw = raw
  }

  /** Encrypts and appends the next bytes. @throws as the file's `append` */
  async write(piece: Uint8Array): Promise<void> {
    for (let at = 0; at < piece.length;) {
      const part = piece.subarray(at, at + WRITE_BYTES - this.#filled)
      this.#gathered.set(part, this.#filled)
      this.#filled += part.length
      at += part.length
      if (this.#filled === WRITE_BYTES) await this.#flush()
    }
  }

  /** Ends it; it can then be read. */
  async finish(): Promise<RestingFile> {
    await this.#flush()
    const extents = new Extents()
    if (this.#raw.bytes > 0) extents.add(0, this.#raw.bytes)
    const decipher = (before = this.#start) => createDecipheriv(CIPHER.cfb, this.#key, before)
    return new RestingFile(this.#raw, { extents, block: CIPHER.blockBytes, decipher })
  }

  async #flush(): Promise<void> {
    const sealed = this.#cipher.update(this.#gathered.subarray(0, this.#filled))
    this.#filled = 0
    if (sealed.length > 0) await this.#raw.append(sealed)
  }
}

/** Where the bytes of a document lie in something longer: in order, in as few stretches as can be. */
export class Extents {
  /** Offsets in the document, and in the file that contains it. */
  readonly #starts: number[] = []
  readonly #positions: number[] = []
  #bytes = 0
  #end = -1

  /** Of the document. */
  get bytes(): number {
    return this.#bytes
  }

  /** The next bytes of the document lie at this position. */
  add(position: number, bytes: number): void {
    if (position !== this.#end) {
      this.#starts.push(this.#bytes)
      this.#positions.push(position)
    }
    this.#bytes += bytes
    this.#end = position + bytes
  }

  /** Where a byte of the document lies. @throws Error when there is no such byte */
  positionOf(offset: number): number {
    const index = this.#indexOf(offset)
    return (this.#positions[index] ?? 0) + offset - (this.#starts[index] ?? 0)
  }

  /**
   * Stretches of the document from one byte on, up to another, as far as they lie before a position.
   */
  *between(
    start: number,
    end: number,
    before: number,
  ): Generator<{ position: number; bytes: number }> {
    let index = this.#indexOf(start)
    for (let offset = start; offset < end; index++) {
      const position = (this.#positions[index] ?? 0) + offset - (this.#starts[index] ?? 0)
      const stop = Math.min(this.#starts[index + 1] ?? this.#bytes, end)
      const bytes = Math.min(stop - offset, before - position)
      if (bytes <= 0) return
      yield { position, bytes }
      if (bytes < stop - offset) return
      offset = stop
    }
  }

  /** The last stretch that begins at or before a byte of the document. */
  #indexOf(offset: number): number {
    if (offset < 0 || offset >= this.#bytes) throw new RangeError('no such byte')
    let low = 0
    let high = this.#starts.length - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((this.#starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return low
  }
}
