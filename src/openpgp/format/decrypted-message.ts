/** The packets inside a message (RFC 9580, 10.3), all at hand and bounded; nothing is copied. */
import { isUtf8 } from 'node:buffer'
import { inflateRawSync, inflateSync } from 'node:zlib'
import { BOUNDS } from '../bounds.ts'
import { bufferOf } from '../bytes.ts'
import type { NotOpened, OpenedText } from '../engine.ts'
import type { ReadFailure } from '../failure-reasons.ts'
import {
  COMPRESSION,
  LITERAL_START_BYTES,
  NO_SIGNATURES,
  damage,
  hasFileName,
  literalHeaderBytes,
  packetOrder,
  readSignatures,
  type ReadSignatures,
} from './message-grammar.ts'
import { FramingError, ReadError, TAG, failureOf, isIgnorable, packetAt } from './packets.ts'
import type { Packet } from './packets.ts'
import { framePacket } from './packet-writer.ts'
import { parseSignature } from './signature-claim.ts'

/** A literal document with its signatures. */
export interface DecryptedDocument extends ReadSignatures {
  outcome: 'document'
  document: Uint8Array
  isFile: boolean
}

export type Decrypted = DecryptedDocument | ReadFailure

type Bunzip = (packet: Uint8Array) => Promise<Uint8Array>

/** Bytes that headers and signatures may add to a document. */
const SIGNATURE_ROOM = 65_536

/**
 * Reads decrypted packets by the grammar of RFC 9580, 10.3.
 * @param bunzip decompresses the one algorithm that the platform lacks (bzip2)
 */
export async function readDecrypted(bytes: Uint8Array, bunzip: Bunzip): Promise<Decrypted> {
  try {
    return await readPackets(bytes, bunzip, 0)
  } catch (error) {
    return failureOf(error instanceof ReadError ? error : damage('compression'))
  }
}

async function readPackets(bytes: Uint8Array, bunzip: Bunzip, depth: number): Promise<Decrypted> {
  const packets = listOf(bytes)
  const compressed = packets.find(({ tag }) => tag === TAG.compressed)
  if (compressed === undefined) return documentIn(packets)
  packetOrder(packets, TAG.compressed)
  if (depth === BOUNDS.nestedCompressions) throw damage('structure')
  const inside = await readPackets(await decompress(compressed.body, bunzip), bunzip, depth + 1)
  const isSignedAround = packets.length > 1 && inside.outcome === 'document'
  return isSignedAround ? { ...inside, ...NO_SIGNATURES } : inside
}

/** A signature of the usual programs stays well below. */
const PLAIN_SIGNATURE_BYTES = 512

/**
 * The same where it costs next to nothing: no compressed data, no signature of unusual size.
 * @returns null for all else
 */
export function readUncompressed(bytes: Uint8Array): Decrypted | null {
  try {
    const packets = listOf(bytes)
    const isPlain = packets.every(
      ({ tag, body }) =>
        tag !== TAG.compressed && (tag !== TAG.signature || body.length <= PLAIN_SIGNATURE_BYTES),
    )
    return isPlain ? documentIn(packets) : null
  } catch (error) {
    return failureOf(error)
  }
}

function listOf(bytes: Uint8Array): Packet[] {
  const packets: Packet[] = []
  for (let at = 0; at < bytes.length;) {
    const packet = packetAt(bytes, at)
    at = packet.next
    if (isIgnorable(packet.tag)) continue
    packets.push(packet)
    if (packets.length > 2 * BOUNDS.signatures + 1) throw new FramingError('too-many-packets')
  }
  return packets
}

/** Bytes after the end of the compressed stream are padding of the sender's and are dropped. */
async function decompress(body: Uint8Array, bunzip: Bunzip): Promise<Uint8Array> {
  const data = body.subarray(1)
  const options = { maxOutputLength: BOUNDS.textBytes + SIGNATURE_ROOM }
  try {
    if (body[0] === COMPRESSION.none) return data
    if (body[0] === COMPRESSION.zip) return inflateRawSync(data, options)
    if (body[0] === COMPRESSION.zlib) return inflateSync(data, options)
    return await bunzip(framePacket(TAG.compressed, body))
  } catch (error) {
    if (isTooLarge(error)) throw new ReadError({ outcome: 'too-large', reason: 'decompressed' })
    throw error
  }
}

/** The platform gives a code, the library a message. */
function isTooLarge(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const reason = 'code' in error ? error.code : error.message
  return reason === 'ERR_BUFFER_TOO_LARGE' || /size exceeded/.test(String(reason))
}

function documentIn(packets: Packet[]): Decrypted {
  const order = packetOrder(packets, TAG.literal)
  if (order.signatures.length > BOUNDS.signatures) throw damage('too-many-signatures')
  const { body } = order.data
  const start = LITERAL_START_BYTES + literalHeaderBytes(body)
  if (start > body.length) throw damage('literal')
  const document = body.subarray(start)
  if (document.length > BOUNDS.textBytes) return { outcome: 'too-large', reason: 'text' }
  const isFile = hasFileName(body)
  const read = readSignatures(order, (signature) => parseSignature(signature, document))
  return { outcome: 'document', document, isFile, ...read }
}

/**
 * Gives the text of a message with the fields of its outside. Invalid UTF-8 is damaged: a
 * replacement character would change the person's words.
 */
export function openedText(
  decrypted: Decrypted,
  about: Pick<OpenedText, 'dataDigest' | 'openedWith' | 'recipients'>,
): OpenedText | NotOpened {
  if (decrypted.outcome !== 'document') return decrypted
  const { document, isFile, claims, signaturePackets } = decrypted
  if (!isUtf8(document)) return { outcome: 'damaged', reason: 'encoding' }
  return {
    outcome: 'opened',
    text: bufferOf(document).toString('utf8'),
    isFile,
    ...about,
    signatures: claims,
    signed: { document, signatures: signaturePackets },
  }
}
