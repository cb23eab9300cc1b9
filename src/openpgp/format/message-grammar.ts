/**
 * The grammar of decrypted packets (RFC 9580, 10.3): which packets may follow each other, and which
 * signature belongs to which one-pass packet. Messages in memory (`decrypted-message.ts`) and files
 * that arrive in pieces (`decrypted-stream.ts`) share it.
 */
import type { SignatureClaim } from '../engine.ts'
import type { GrammarReason } from '../failure-reasons.ts'
import { ReadError, TAG, type Packet } from './packets.ts'
import { framePacket } from './packet-writer.ts'

/** Compression algorithms (RFC 9580, 9.4). */
export const COMPRESSION = { none: 0, zip: 1, zlib: 2, bzip2: 3 } as const

/** Bytes of a literal's format, which changes nothing, and length of name; name and date follow. */
export const LITERAL_START_BYTES = 2
const DATE_BYTES = 4

/** Bytes between the start of a literal and its document. */
export const literalHeaderBytes = ([, nameBytes = 0]: Uint8Array): number => nameBytes + DATE_BYTES

/**
 * Names that programs write where there is no file: `_CONSOLE` (RFC 4880, 5.9), and that of
 * openpgp.js before its version 5.
 */
const NO_FILE = ['', '_CONSOLE', 'msg.txt']

/** Whether a literal, whose header is whole, has the name of a file. */
export function hasFileName(literal: Uint8Array): boolean {
  const end = LITERAL_START_BYTES + (literal[1] ?? 0)
  return !NO_FILE.includes(
    Buffer.from(literal.subarray(LITERAL_START_BYTES, end)).toString('latin1'),
  )
}

export const damage = (reason: GrammarReason): ReadError =>
  new ReadError({ outcome: 'damaged', reason })

/** A data packet with its signature packets. */
export interface PacketOrder {
  data: Packet
  onePass: Packet[] | null
  signatures: Packet[]
}

/**
 * Data; or one-pass signatures, data, as many signatures; or signatures, data.
 * @throws ReadError for the rest
 */
export function packetOrder(packets: Packet[], dataTag: number): PacketOrder {
  const at = packets.findIndex(({ tag }) => tag === dataTag)
  const data = packets[at]
  if (data === undefined) throw damage('structure')
  const before = packets.slice(0, at)
  const after = packets.slice(at + 1)
  const onePass = before.length > 0 && before.every(({ tag }) => tag === TAG.onePassSignature)
  const signatures = onePass ? after : before
  const isPaired = after.length === (onePass ? before.length : 0)
  if (!isPaired || !signatures.every(({ tag }) => tag === TAG.signature)) throw damage('structure')
  return { data, onePass: onePass ? before : null, signatures }
}

/** The signatures on a document, of which nothing is verified yet. */
export interface ReadSignatures {
  claims: SignatureClaim[]
  /** Signature packets, framed, in the order of `claims`. */
  signaturePackets: Uint8Array[]
}

/**
 * Reads the signatures of a document.
 * @param claimOf reads a signature packet's body; null for a kind that is never on a message
 * @throws ReadError when one does not agree with its one-pass packet
 */
export function readSignatures(
  order: PacketOrder,
  claimOf: (body: Uint8Array) => SignatureClaim | null,
): ReadSignatures {
  const claims: SignatureClaim[] = []
  const signaturePackets: Uint8Array[] = []
  for (const [index, { body }] of order.signatures.entries()) {
    const claim = claimOf(body)
    if (claim !== null && !agreesWithOnePass(order, index)) throw damage('one-pass')
    claims.push(claim ?? unreadableClaim(index))
    signaturePackets.push(framePacket(TAG.signature, body))
  }
  return { claims, signaturePackets }
}

/** A signature around compressed data is no statement that programs agree on: it counts as none. */
export const NO_SIGNATURES: ReadSignatures = { claims: [], signaturePackets: [] }

/**
 * Whether a signature agrees with its one-pass packet, if there are such: they must speak of the
 * same type and algorithms (RFC 9580, 5.4). The last signature belongs to the first of them.
 */
function agreesWithOnePass({ onePass, signatures }: PacketOrder, index: number): boolean {
  const opening = onePass?.[onePass.length - 1 - index]?.body
  const signature = signatures[index]?.body
  if (opening === undefined || signature === undefined) return true
  const [type, hash, publicKey] = [opening[1], opening[2], opening[3]]
  return type === signature[1] && publicKey === signature[2] && hash === signature[3]
}

/** A signature of a kind or version that is never valid on a message: it counts, and it is bad. */
const unreadableClaim = (index: number): SignatureClaim => ({
  issuerKeyId: null,
  createdMs: 0,
  intended: [],
  digest: `unreadable-${index}`,
})
