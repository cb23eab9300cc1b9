/** The grammar of what was decrypted (RFC 9580, 10.3), walked by us and bounded. */
import { inflateRawSync, inflateSync } from 'node:zlib'
import {
  LITERAL_FORMATS,
  packetOrder,
  agreesWithOnePass,
  unreadableClaim,
  type PacketOrder,
} from './packet-order.ts'
import { FramingError, TAG, framePacket, isIgnorable, packetAt, type Packet } from './packets.ts'
import { BOUNDS } from '../bounds.ts'
import { parseSignature, type ParsedSignature } from './signature-claim.ts'

/** A literal document with the signatures that stand on it. */
export interface DecryptedDocument {
  outcome: 'document'
  document: Uint8Array
  claims: ParsedSignature[]
  /** Signature packets, framed, in the order of `claims`. */
  signaturePackets: Uint8Array[]
}

export type Decrypted =
  | DecryptedDocument
  | { outcome: 'damaged'; reason: string }
  | { outcome: 'too-large'; reason: string }

/** Bytes that headers and signatures may add to a document. */
const SIGNATURE_ROOM = 65_536
const COMPRESSION = { none: 0, zip: 1, zlib: 2 } as const

/**
 * Takes decrypted packets and the bound on a document's bytes.
 * @param bunzip decompresses the one algorithm that the platform lacks (bzip2)
 */
export async function readDecrypted(
  bytes: Uint8Array,
  bunzip: (packet: Uint8Array) => Promise<Uint8Array>,
): Promise<Decrypted> {
  try {
    const packets = list(bytes)
    const compressed = packets.find(({ tag }) => tag === TAG.compressed)
    if (compressed === undefined) return grammar(packets)
    if (packetOrder(packets, TAG.compressed) === null)
      return { outcome: 'damaged', reason: 'structure' }
    const inner = grammar(list(await decompress(compressed.body, bunzip)))
    return packets.length === 1 ? inner : withoutSignatures(inner)
  } catch (error) {
    if (error instanceof FramingError) return { outcome: 'damaged', reason: error.message }
    if (error instanceof TooLarge) return { outcome: 'too-large', reason: 'decompressed' }
    return { outcome: 'damaged', reason: 'compression' }
  }
}

/** A signature of the usual programs stays well below. */
const PLAIN_SIGNATURE_BYTES = 512

/**
 * The same where it costs next to nothing: no compressed data, no signature of unusual size.
 * @returns null for all else
 */
export function readUncompressed(bytes: Uint8Array): Decrypted | null {
  try {
    const packets = list(bytes)
    const isPlain = packets.every(
      ({ tag, body }) =>
        tag !== TAG.compressed && (tag !== TAG.signature || body.length <= PLAIN_SIGNATURE_BYTES),
    )
    return isPlain ? grammar(packets) : null
  } catch (error) {
    if (error instanceof FramingError) return { outcome: 'damaged', reason: error.message }
    throw error
  }
}

class TooLarge extends Error {}

function list(bytes: Uint8Array): Packet[] {
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
async function decompress(
  body: Uint8Array,
  bunzip: (packet: Uint8Array) => Promise<Uint8Array>,
): Promise<Uint8Array> {
  const data = body.subarray(1)
  const options = { maxOutputLength: BOUNDS.textBytes + SIGNATURE_ROOM }
  try {
    if (body[0] === COMPRESSION.none) return data
    if (body[0] === COMPRESSION.zip) return inflateRawSync(data, options)
    if (body[0] === COMPRESSION.zlib) return inflateSync(data, options)
    return await bunzip(framePacket(TAG.compressed, body))
  } catch (error) {
    if (isTooLarge(error)) throw new TooLarge()
    throw error
  }
}

/** The platform says it with a code, the library in words. */
function isTooLarge(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const said = 'code' in error ? error.code : error.message
  return said === 'ERR_BUFFER_TOO_LARGE' || /size exceeded/.test(String(said))
}

/** A signature around compressed data is no statement that programs agree on: it counts as none. */
function withoutSignatures(inner: Decrypted): Decrypted {
  if (inner.outcome !== 'document') return inner
  return { ...inner, claims: [], signaturePackets: [] }
}

function grammar(packets: Packet[]): Decrypted {
  const found = packetOrder(packets, TAG.literal)
  if (found === null) return { outcome: 'damaged', reason: 'structure' }
  const { data, signatures } = found
  if (signatures.length > BOUNDS.signatures)
    return { outcome: 'damaged', reason: 'too-many-signatures' }
  const document = documentOf(data.body)
  if (document === null) return { outcome: 'damaged', reason: 'literal' }
  if (document.length > BOUNDS.textBytes) return { outcome: 'too-large', reason: 'text' }
  return withSignatures(document, found)
}

function withSignatures(document: Uint8Array, found: PacketOrder): Decrypted {
  const claims: ParsedSignature[] = []
  const signaturePackets: Uint8Array[] = []
  for (const [index, packet] of found.signatures.entries()) {
    const claim = parseSignature(packet.body, document) ?? unreadableClaim(index)
    if (!agreesWithOnePass(found, index)) return { outcome: 'damaged', reason: 'one-pass' }
    claims.push(claim)
    signaturePackets.push(framePacket(TAG.signature, packet.body))
  }
  return { outcome: 'document', document, claims, signaturePackets }
}

function documentOf(literal: Uint8Array): Uint8Array | null {
  const start = 2 + (literal[1] ?? 0) + 4
  if (!LITERAL_FORMATS.has(literal[0] ?? 0) || start > literal.length) return null
  return literal.subarray(start)
}
