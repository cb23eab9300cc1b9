/** Opening an attachment while it arrives, in memory that does not grow with it. */
import { createHash } from 'node:crypto'
import { BOUNDS } from '../bounds.ts'
import type { NotOpened, OpenFileOptions, OpenedFile } from '../engine.ts'
import { dearmored } from '../format/armor-lines.ts'
import { ByteReader } from '../format/packet-stream.ts'
import { readDocument, withoutSignatures } from '../format/decrypted-stream.ts'
import type { DocumentSink, ReadDocument, StillCompressed } from '../format/decrypted-stream.ts'
import { readArriving, readTrailing, type ArrivingMessage } from '../format/encrypted-message.ts'
import { ReadError, failureOf } from '../format/packets.ts'
import type { FoundPackets } from '../library/open.ts'
import { undecryptable } from '../format/recipient-scan.ts'
import type { FoundKey, OwnIds, ScannedRecipients } from '../format/recipient-scan.ts'
import type { Container as NativeContainer, NativeKey } from '../native/container.ts'
import { Extents, RestingFile, RestingWriter, type RawFile, type Room } from './resting.ts'

/** Steps that run in threads, which may be killed; each fails with null or an empty list. */
export interface FileOpeningHelpers {
  unwrap(addressed: ScannedRecipients): Promise<FoundKey[]>
  openWhole(container: Uint8Array, found: FoundKey[]): Promise<FoundPackets | null>
  unpackWhole(packet: Uint8Array): Promise<Uint8Array | 'too-large' | null>
}

/** Native code that decrypts version 1 containers while they arrive. */
export type NativeContainers = typeof import('../native/container.ts')

export interface FileOpeningOptions extends FileOpeningHelpers, Omit<OpenFileOptions, 'keys'> {
  own: OwnIds
  /** Null where the library opens all of them. */
  native: NativeContainers | null
}

/**
 * Reads an attachment, puts its document to rest and proves it: version 1 with the platform's
 * ciphers in one pass for any size, all other forms by the library up to a bound.
 * Everything cryptographic that fails is `damaged` with one reason.
 */
export async function openFileStream(
  reader: ByteReader,
  options: FileOpeningOptions,
): Promise<OpenedFile | NotOpened> {
  const outer = options.form === 'armored' ? new ByteReader(dearmored(reader)) : reader
  try {
    const message = await readArriving(outer, options.own)
    if (message.outcome !== 'encrypted') return message
    const found = await options.unwrap(message)
    if (found.length === 0) return message.named ? undecryptable([]) : { outcome: 'not-recipient' }
    const opening = { message, outer, options, found }
    const native = message.version === 1 ? options.native : null
    const key = native?.choose(found, await outer.peek(PREFIX_BYTES)) ?? null
    if (native === null || key === null) return await openWhole(opening)
    return await openPassing(key, native.Container, opening)
  } catch (error) {
    return failureOf(error)
  }
}

/** The random block of a container, and its last two bytes again. */
const PREFIX_BYTES = 18

interface FileOpening {
  message: ArrivingMessage
  found: FoundKey[]
  outer: ByteReader
  options: FileOpeningOptions
}

async function openPassing(
  key: NativeKey,
  Container: NativeContainers['Container'],
  opening: FileOpening,
): Promise<OpenedFile | NotOpened> {
  const { message, outer, options } = opening
  const raw = await options.room.file()
  const container = new Container(message.container, { raw, key })
  const sink = new RestingSink(options.room, container)
  return await unlessRefused(sink, async () => {
    const inner = new ByteReader(container.packets())
    const found = await readDocument(inner, sink)
    if (found.outcome !== 'document') container.forget()
    // Read to the end after any failure, so that the time does not depend on it.
    await inner.drain()
    await readTrailing(outer)
    if (!container.isIntact) return undecryptable([])
    const { fingerprint } = key
    const dataDigest = container.digest
    return await opened(found, { sink, options, dataDigest, fingerprint, message })
  })
}

async function openWhole(opening: FileOpening): Promise<OpenedFile | NotOpened> {
  const { message, found: sessionKeys, outer, options } = opening
  const { version } = message
  // One in a form for the library alone is bounded; where it opens all of them, each may be whole.
  const most =
    options.native === null && version === 1
      ? BOUNDS.storedAttachmentBytes
      : BOUNDS.libraryAttachmentBytes
  const tooLong = new ReadError({ outcome: 'too-large', reason: 'form' })
  const body = await message.container.whole(most, tooLong)
  await readTrailing(outer)
  const container = Buffer.concat([Buffer.from([version]), body])
  const inside = await options.openWhole(container, sessionKeys)
  if (inside === null) return undecryptable(sessionKeys)
  const sink = new RestingSink(options.room, null)
  return await unlessRefused(sink, async () => {
    const found = await readDocument(new ByteReader(once(inside.packets)), sink)
    const { identity, fingerprint } = inside
    const dataDigest = identity ?? createHash('sha256').update(container).digest('hex')
    return await opened(found, { sink, options, dataDigest, fingerprint, message })
  })
}

async function opened(
  found: ReadDocument,
  o: Pick<FileOpening, 'message' | 'options'> & {
    sink: RestingSink
    dataDigest: string
    fingerprint: string
  },
): Promise<OpenedFile | NotOpened> {
  let read = found
  while (read.outcome === 'compressed') read = await unpack(read, o.sink, o.options)
  if (read.outcome !== 'document') return read
  return {
    outcome: 'opened',
    file: await o.sink.file(),
    dataDigest: o.dataDigest,
    signatures: read.claims,
    signed: { digests: read.digests, signatures: read.signaturePackets },
    openedWith: o.fingerprint,
    recipients: o.message.recipients,
  }
}

async function unpack(
  { packet, depth, signedAround }: StillCompressed,
  sink: RestingSink,
  helpers: FileOpeningHelpers,
): Promise<ReadDocument> {
  const bytes = await helpers.unpackWhole(packet)
  if (bytes === null) return { outcome: 'damaged', reason: 'compression' }
  if (bytes === 'too-large') return { outcome: 'too-large', reason: 'decompressed' }
  const found = await readDocument(new ByteReader(once(bytes)), sink, depth)
  return signedAround ? withoutSignatures(found) : found
}

/** Closes the room after any failure; a returned file keeps it. */
async function unlessRefused(
  sink: RestingSink,
  open: () => Promise<OpenedFile | NotOpened>,
): Promise<OpenedFile | NotOpened> {
  await using unopened = new AsyncDisposableStack()
  unopened.defer(() => sink.discard())
  const result = await open()
  if (result.outcome === 'opened') unopened.move()
  return result
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes)
}

/** Stores a document: within its container as it arrived, or encrypted anew. */
export class RestingSink implements DocumentSink {
  readonly #room: Room
  readonly #container: NativeContainer | null
  readonly #extents = new Extents()
  #raw: RawFile | null
  #writer: RestingWriter | null = null

  /** @param container the one that goes to rest; null when none does */
  constructor(room: Room, container: NativeContainer | null) {
    this.#room = room
    this.#container = container
    this.#raw = container?.raw ?? null
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
    const container = this.#container
    const decipher = (before?: Uint8Array) => container.decipher(before)
    const parts = { extents: this.#extents, block: container.blockBytes, decipher }
    return new RestingFile(this.#raw, parts)
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
