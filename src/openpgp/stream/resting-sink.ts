/** The document of an attachment, at rest. */
import type { DocumentSink } from '../format/decrypted-stream.ts'
import type { Container } from '../native/container.ts'
import {
  Extents,
  RestingFile,
  RestingWriter,
  type RawFile,
  type Room,
  type StartDecipher,
} from './resting.ts'

/** Stores a document: within its container as it arrived, or encrypted anew. */
export class RestingSink implements DocumentSink {
  readonly #room: Room
  readonly #container: Container | null
  readonly #extents = new Extents()
  #raw: RawFile | null
  #writer: RestingWriter | null = null
  readonly #startDecipher: StartDecipher | undefined

  /** @param arrived the container that goes to rest, with its file; null when none does */
  constructor(
    room: Room,
    arrived: { container: Container; raw: RawFile } | null,
    startDecipher?: StartDecipher,
  ) {
    this.#room = room
    this.#startDecipher = startDecipher
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
    return new RestingFile(this.#raw, {
      key,
      extents: this.#extents,
      block,
      startDecipher: this.#startDecipher,
    })
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
    this.#writer = new RestingWriter(this.#raw, this.#startDecipher)
    return this.#writer
  }
}
