/** Reads the fields of a signature packet (RFC 9580, 5.2), without verifying anything. */
import { hash } from 'node:crypto'
import { bufferOf, hexOf, numberAt } from '../bytes.ts'
import type { SignatureClaim, Signed, SignedAtLength } from '../engine.ts'
import { SUBPACKET, statementDigest } from './packet-writer.ts'

/** Signature over a document; other types are no statement about a message. */
export const BINARY = 0
/** Line ends are hashed as CRLF (RFC 9580, 5.2.1.2). */
export const TEXT = 1
const LINE_FEED = 10

/** Fields of a signature packet; `hashedPart` is hashed after the document. */
export interface SignatureHead {
  type: number
  hashAlgorithm: number
  hashedPart: Uint8Array
}

/**
 * @param body of a signature packet
 * @returns null for versions and types that are never a signature on a message
 */
export const parseSignature = (body: Uint8Array, document: Uint8Array): SignatureClaim | null =>
  readClaim(body, ({ type, hashedPart }) =>
    statementDigest(sha256(type === TEXT ? canonicalText(document) : document), hashedPart),
  )

/** The same where the document is not at hand: `digestOf` gives the identity of the statement. */
export function readClaim(
  body: Uint8Array,
  digestOf: (head: SignatureHead) => string,
): SignatureClaim | null {
  const version = body[0]
  if (version !== 4 && version !== 6) return null
  const type = body[1] ?? 255
  if (type !== BINARY && type !== TEXT) return null
  const areas = readAreas(body, version === 6 ? 4 : 2)
  if (areas === null) return null
  const { subpackets: claims, end } = areas.hashed
  const created = claims.find(({ kind }) => kind === SUBPACKET.created)?.bytes
  if (created?.length !== 4) return null
  return {
    issuerKeyId: issuerOf([...claims, ...areas.unhashed.subpackets]),
    createdMs: numberAt(created, 0, 4) * 1000,
    intended: claims
      .filter(({ kind }) => kind === SUBPACKET.intendedRecipient)
      .map(({ bytes }) => hexOf(bytes.subarray(1))),
    digest: digestOf({ type, hashAlgorithm: body[3] ?? 0, hashedPart: body.subarray(0, end) }),
  }
}

/**
 * Every key id that a signature packet of version 4 names as its maker's, 16 hexadecimal
 * characters each; none when it names none or cannot be read.
 */
export function issuerKeyIdsOf(body: Uint8Array): string[] {
  const areas = body[0] === 4 ? readAreas(body, 2) : null
  if (areas === null) return []
  const all = [...areas.hashed.subpackets, ...areas.unhashed.subpackets]
  return all.map((one) => issuerOf([one])).filter((keyId) => keyId !== null)
}

/** The subpackets of a signature, behind their lengths of `lengthBytes`; null where cut short. */
export function readAreas(body: Uint8Array, lengthBytes: number) {
  const hashed = readArea(body, 4, lengthBytes)
  const unhashed = hashed && readArea(body, hashed.end, lengthBytes)
  return hashed && unhashed && { hashed, unhashed }
}

function readArea(body: Uint8Array, at: number, lengthBytes: number) {
  const start = at + lengthBytes
  const end = start + numberAt(body, at, lengthBytes)
  if (end > body.length) return null
  return { ...readSubpackets(body.subarray(start, end)), end }
}

export interface Subpacket {
  kind: number
  isCritical: boolean
  bytes: Buffer
}

/**
 * Reads an area of subpackets as far as they are whole (RFC 9580, 5.2.3.7).
 * @returns `isPlain` false where one is cut short, or is longer than programs write them
 */
export function readSubpackets(area: Uint8Array): { subpackets: Subpacket[]; isPlain: boolean } {
  const bytes = bufferOf(area)
  const subpackets: Subpacket[] = []
  let isPlain = true
  for (let at = 0; at < bytes.length;) {
    const first = bytes[at] ?? 0
    const size = first < 192 ? 1 : first < 255 ? 2 : 5
    isPlain &&= size < 5
    const long =
      size === 5 ? numberAt(bytes, at + 1, 4) : ((first - 192) << 8) + (bytes[at + 1] ?? 0) + 192
    const length = size === 1 ? first : long
    const start = at + size
    at = start + length
    if (length < 1 || at > bytes.length) return { subpackets, isPlain: false }
    const kind = bytes[start] ?? 0
    subpackets.push({
      kind: kind & 0x7f,
      isCritical: (kind & 0x80) !== 0,
      bytes: bytes.subarray(start + 1, at),
    })
  }
  return { subpackets, isPlain }
}

function issuerOf(all: readonly Subpacket[]): string | null {
  const fingerprint = all.find(({ kind }) => kind === SUBPACKET.issuerFingerprint)?.bytes
  if (fingerprint?.[0] === 4 && fingerprint.length === 21) return hexOf(fingerprint.subarray(13))
  if (fingerprint?.[0] === 6 && fingerprint.length === 33) return hexOf(fingerprint.subarray(1, 9))
  const issuer = all.find(({ kind }) => kind === SUBPACKET.issuer)?.bytes
  return issuer?.length === 8 ? hexOf(issuer) : null
}

/** The input of one signature: the document, or its digest. */
export type MadeOver = Pick<Signed, 'document'> | { digest: Uint8Array }

export const madeOver = (signed: Signed | SignedAtLength, index: number): MadeOver =>
  'document' in signed ? signed : { digest: signed.digests[index] ?? Buffer.alloc(0) }

/** A text with its line ends as they are signed (RFC 9580, 5.2.4). */
export function canonicalText(document: Uint8Array): Uint8Array {
  if (!document.includes(LINE_FEED)) return document
  const text = Buffer.from(document).toString('latin1')
  return Buffer.from(text.replace(/\r?\n/g, '\r\n'), 'latin1')
}

const sha256 = (bytes: Uint8Array): Buffer => hash('sha256', bytes, 'buffer')
