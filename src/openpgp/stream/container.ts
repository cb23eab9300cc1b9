/** A version 1 container while it arrives, and where the document in it comes to rest. */
import { createHash } from 'node:crypto'
import { BOUNDS } from '../bounds.ts'
import type { SymmetricKey } from '../format/ciphers.ts'
import { Version1 } from '../crypto/seipd-stream.ts'
import type { DocumentSink } from '../format/decrypted-stream.ts'
import type { StreamedPacket } from '../format/packet-stream.ts'
import { type RawFile, type Room, Extents, RestingFile, RestingWriter } from './resting.ts'

/** What goes to the disk at once: whole blocks of every cipher. */
const BLOCK_BYTES = 262_144
/** How many of them may be on their way there. */
const BLOCKS = 3
/** Decrypted, hashed and read while it is still in the processor’s cache. */
const SLICE_BYTES = 65_536

interface Slot {
  block: Uint8Array
  written: Promise<void>
}

/** Reads one container with one session key. */
export class Container {
  readonly #packet: StreamedPacket
  readonly #raw: RawFile
  readonly key: SymmetricKey
  readonly #version1: Version1
  /** Of what is no longer than a message can be: the same identity as a message has. */
  readonly #small = createHash('sha256').update(Buffer.from([1]))
  #bytes = 0
  #keeps = true
  #intact = false

  /** @param packet its version byte is read already */
  constructor(packet: StreamedPacket, o: { raw: RawFile; key: SymmetricKey }) {
    this.#packet = packet
    this.#raw = o.raw
    this.key = o.key
    this.#version1 = new Version1(o.key)
  }

  /** How far a position of the packets inside is from the same in the file at rest. */
  get restingOffset(): number {
    return this.#version1.prefixBytes
  }

  get blockBytes(): number {
    return this.#version1.prefixBytes - 2
  }

  /** Nothing of it need be kept: from now on it only goes by. */
  forget(): void {
    this.#keeps = false
  }

  /** The packets inside, not proven yet. @throws FramingError when the container is cut off */
  async *packets(): AsyncGenerator<Uint8Array> {
    for await (const block of this.#blocks()) {
      this.#bytes += block.length
      if (this.#bytes <= BOUNDS.messageChars) this.#small.update(block)
      for (let at = 0; at < block.length; at += SLICE_BYTES) {
        yield* this.#version1.update(block.subarray(at, at + SLICE_BYTES))
      }
    }
    this.#intact = this.#version1.end()
  }

  /** Whether all of it went by and nothing was changed. */
  get isIntact(): boolean {
    return this.#intact
  }

  /**
   * The identity of the encrypted data, once it is intact. What is too long to be a message is
   * known by its session key and its hash, from which the one ciphertext follows.
   */
  get digest(): string {
    if (this.#bytes <= BOUNDS.messageChars) return this.#small.copy().digest('hex')
    const whole = createHash('sha256').update('version 1').update(this.key.data)
    return whole.update(this.#version1.digest).digest('hex')
  }

  /** Fills blocks in turn; one is used again once it is on the disk. */
  async *#blocks(): AsyncGenerator<Uint8Array> {
    const slots: Slot[] = []
    for (let filled = BLOCK_BYTES; filled === BLOCK_BYTES;) {
      const slot = slots.length < BLOCKS ? emptySlot() : slots.shift()
      if (slot === undefined) return
      slots.push(slot)
      await slot.written
      filled = await this.#packet.into(slot.block)
      const block = slot.block.subarray(0, filled)
      slot.written = this.#keeps ? this.#raw.append(block) : Promise.resolve()
      // It is awaited in its turn; until then its failure is nobody's surprise.
      slot.written.catch(() => undefined)
      yield block
    }
    await Promise.all(slots.map(({ written }) => written))
  }
}

const emptySlot = (): Slot => ({ block: new Uint8Array(BLOCK_BYTES), written: Promise.resolve() })

/** Where a document comes to rest: in its container as it arrived, or written anew. */
export class RestingSink implements DocumentSink {
  readonly #room: Room
  readonly #container: Container | null
  readonly #extents = new Extents()
  #raw: RawFile | null
  #writer: RestingWriter | null = null

  /** @param arrived the container that goes to rest, with its file; null when none does */
  constructor(room: Room, arrived: { container: Container; raw: RawFile } | null) {
    this.#room = room
    this.#container = arrived?.container ?? null
    this.#raw = arrived?.raw ?? null
  }

  async take(piece: Uint8Array, position: number | null): Promise<void> {
    if (this.#container !== null && position !== null) {
      this.#extents.add(position + this.#container.restingOffset, piece.length)
    } else {
      await (await this.#written()).write(piece)
    }
  }

  /** The document, once it is proven. */
  async file(): Promise<RestingFile> {
    if (this.#container === null || this.#raw === null || this.#writer !== null) {
      return await (await this.#written()).finish()
    }
    const { key, blockBytes: block } = this.#container
    return new RestingFile(this.#raw, { key, extents: this.#extents, block })
  }

  /** Gives all room back. */
  async discard(): Promise<void> {
    await this.#raw?.close()
  }

  async #written(): Promise<RestingWriter> {
    if (this.#writer !== null) return this.#writer
    this.#container?.forget()
    await this.#raw?.close()
    this.#raw = await this.#room.file()
    this.#writer = new RestingWriter(this.#raw)
    return this.#writer
  }
}
