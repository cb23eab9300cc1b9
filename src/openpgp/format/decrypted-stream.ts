/** The packets inside a file (RFC 9580, 10.3), read and unpacked while they go by. */
import { pipeline } from 'node:stream/promises'
import { createInflate, createInflateRaw } from 'node:zlib'
import { BOUNDS } from '../bounds.ts'
import type { ReadFailure } from '../failure-reasons.ts'
import { ByteReader, nextSignificant, type StreamedPacket } from './packet-stream.ts'
import { DocumentHashes, type HashUse } from './document-hashes.ts'
import {
  COMPRESSION,
  LITERAL_START_BYTES,
  NO_SIGNATURES,
  damage,
  literalHeaderBytes,
  packetOrder,
  readSignatures,
} from './message-grammar.ts'
import type { PacketOrder, ReadSignatures } from './message-grammar.ts'
import { ReadError, TAG, failureOf, type Packet } from './packets.ts'
import { framePacket } from './packet-writer.ts'
import { readClaim } from './signature-claim.ts'

/** A document that was read to its end, with its signatures. */
export interface StreamedDocument extends ReadSignatures {
  outcome: 'document'
  bytes: number
  /** The digest of each signature's input, in the order of `claims`. */
  digests: Uint8Array[]
}

/** Compressed by the one algorithm that the platform lacks: its packet, to be unpacked later. */
export interface StillCompressed {
  outcome: 'compressed'
  packet: Uint8Array
  /** Of compressed packets around it, with it. */
  depth: number
  /** A signature around compressed data is no statement that programs agree on: it is dropped. */
  signedAround: boolean
}

export type ReadDocument = StreamedDocument | StillCompressed | ReadFailure

/** Where the document's bytes go. */
export interface DocumentSink {
  /** @param position offset of the piece in the decrypted packets, null when it was compressed */
  take(piece: Uint8Array, position: number | null): void | Promise<void>
}

/**
 * Reads decrypted packets to their end, or to their first error.
 * @param depth in how many compressed packets they were
 */
export const readDocument = async (
  reader: ByteReader,
  sink: DocumentSink,
  depth = 0,
): Promise<ReadDocument> => await read(reader, sink, depth).catch(failureOf)

const tooLarge = (reason: 'file' | 'decompressed' | 'form'): ReadError =>
  new ReadError({ outcome: 'too-large', reason })

async function read(reader: ByteReader, sink: DocumentSink, depth: number): Promise<ReadDocument> {
  const { before, data } = await untilData(reader)
  if (data.tag === TAG.compressed) {
    const found = await unpack(data, sink, depth + 1)
    await data.drain()
    const { signatures } = await rest(reader, before, data.tag)
    return signatures.length === 0 ? found : withoutSignatures(found)
  }
  const hashes = new DocumentHashes(before.map(useOf))
  const bytes = await readLiteral(data, async (piece) => {
    hashes.update(piece)
    await sink.take(piece, depth === 0 ? reader.position - piece.length : null)
  })
  hashes.end()
  return withSignatures(await rest(reader, before, data.tag), { bytes, hashes })
}

/** Reads the packets before the data, and the header of the literal or compressed packet. */
async function untilData(reader: ByteReader): Promise<{ before: Packet[]; data: StreamedPacket }> {
  const before: Packet[] = []
  for (;;) {
    const packet = await nextSignificant(reader)
    if (packet === null) throw damage('structure')
    const { tag } = packet
    if (tag === TAG.literal || tag === TAG.compressed) return { before, data: packet }
    before.push(await whole(packet, before.length))
  }
}

/** Reads the packets after the data, and orders them with those before. */
async function rest(reader: ByteReader, before: Packet[], dataTag: number): Promise<PacketOrder> {
  const after: Packet[] = []
  for (;;) {
    const packet = await nextSignificant(reader)
    if (packet === null) break
    after.push(await whole(packet, after.length))
  }
  const data = { tag: dataTag, body: Buffer.alloc(0) }
  return packetOrder([...before, data, ...after], dataTag)
}

async function whole(packet: StreamedPacket, index: number): Promise<Packet> {
  const { tag } = packet
  if (tag !== TAG.signature && tag !== TAG.onePassSignature) throw damage('structure')
  if (index >= BOUNDS.signatures) throw damage('too-many-signatures')
  return { tag, body: await packet.whole(BOUNDS.signaturePacketBytes) }
}

/** Reads a literal (RFC 9580, 5.9); gives the bytes of its document. */
async function readLiteral(
  packet: StreamedPacket,
  take: (piece: Uint8Array) => Promise<void>,
): Promise<number> {
  const start = await packet.exactly(LITERAL_START_BYTES)
  await packet.exactly(literalHeaderBytes(start))
  let bytes = 0
  for (let piece = await packet.some(); piece !== null; piece = await packet.some()) {
    bytes += piece.length
    if (bytes > BOUNDS.attachmentBytes) throw tooLarge('file')
    await take(piece)
  }
  return bytes
}

async function unpack(
  packet: StreamedPacket,
  sink: DocumentSink,
  depth: number,
): Promise<ReadDocument> {
  if (depth > BOUNDS.nestedCompressions) throw damage('structure')
  const [algorithm = 0] = await packet.exactly(1)
  if (algorithm === COMPRESSION.bzip2) {
    const body = await packet.whole(BOUNDS.libraryAttachmentBytes, tooLarge('form'))
    const packed = framePacket(TAG.compressed, Buffer.concat([Buffer.of(algorithm), body]))
    return { outcome: 'compressed', packet: packed, depth, signedAround: false }
  }
  if (algorithm > COMPRESSION.bzip2) throw damage('compression')
  await using reader = new ByteReader(bounded(inflated(packet, algorithm)))
  return await readDocument(reader, sink, depth)
}

/** Bounds decompressed bytes; every error of zlib gives the same reason. */
async function* bounded(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const max = BOUNDS.attachmentBytes + BOUNDS.signaturePacketBytes
  let bytes = 0
  try {
    for await (const piece of pieces) {
      bytes += piece.length
      if (bytes > max) throw tooLarge('decompressed')
      yield piece
    }
  } catch (error) {
    if (!isZlibs(error)) throw error
    throw damage('compression')
  }
}

const isZlibs = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')

/** A signature's type and hash algorithm, from the signature or its one-pass packet. */
function useOf({ tag, body }: Packet): HashUse {
  const [, type = 255, second = 0, third = 0] = body
  return { type, hashAlgorithm: tag === TAG.onePassSignature ? second : third }
}

function withSignatures(
  order: PacketOrder,
  { bytes, hashes }: { bytes: number; hashes: DocumentHashes },
): StreamedDocument {
  const digests: Uint8Array[] = []
  const signed = readSignatures(order, (body) => {
    let digest: Uint8Array = Buffer.alloc(0)
    const claim = readClaim(body, (head) => {
      digest = hashes.digest(head)
      return hashes.statement(head)
    })
    digests.push(digest)
    return claim
  })
  return { outcome: 'document', bytes, digests, ...signed }
}

/** A document as if nobody had signed it. */
export function withoutSignatures(found: ReadDocument): ReadDocument {
  if (found.outcome === 'compressed') return { ...found, signedAround: true }
  if (found.outcome !== 'document') return found
  return { ...found, ...NO_SIGNATURES, digests: [] }
}

const CHUNK_BYTES = 65_536

/**
 * Decompresses the rest of a compressed packet's body. Bytes after the end of the compressed stream
 * are padding of the sender's; they are left in the packet or dropped. When the consumer stops,
 * nothing reads the packet any more either.
 * @param algorithm none, zip or zlib
 * @throws Error of zlib for data that is broken or cut; FramingError as the packet does
 */
export async function* inflated(
  packet: StreamedPacket,
  algorithm: number,
): AsyncGenerator<Uint8Array> {
  if (algorithm === COMPRESSION.none) {
    yield* piecesOf(packet)
    return
  }
  const options = { chunkSize: CHUNK_BYTES }
  const stream = algorithm === COMPRESSION.zip ? createInflateRaw(options) : createInflate(options)
  // Errors after the last byte was read are ignored.
  stream.on('error', () => {})
  const feeding = pipeline(piecesOf(packet), stream).catch(() => {})
  try {
    for await (const piece of stream) yield piece as Buffer
  } finally {
    stream.destroy()
    await feeding
  }
}

/** Copies: a stream may hold a piece while the packet is read on. */
async function* piecesOf(packet: StreamedPacket): AsyncGenerator<Uint8Array> {
  const next = (): Promise<Uint8Array | null> => packet.some(CHUNK_BYTES)
  for (let some = await next(); some !== null; some = await next()) yield Buffer.from(some)
}
