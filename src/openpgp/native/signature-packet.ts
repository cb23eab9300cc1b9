/** Signature packets of the form that is verified here: version 4, of a known kind of key (RFC 9580, 5.2.3). */
import { hash } from 'node:crypto'
import { bufferOf, hexOf } from '../bytes.ts'
import type { SigningKey, Statement } from '../crypto/algorithm.ts'
import { SUBPACKET, trailerOf } from '../format/packet-writer.ts'
import { readAreas, type Subpacket } from '../format/signature-claim.ts'
import { findSignatureAlgorithm } from '../crypto/public-key.ts'

/** The fields of a signature packet. */
export interface SignaturePacketForm {
  type: number
  algorithm: SigningKey['algorithm']
  hash: Hash
  hashed: Subpacket[]
  unhashed: Subpacket[]
  /** The packet's body up to the end of the hashed subpackets, which is signed too. */
  hashedPart: Buffer
  /** The first two bytes of the digest. */
  left: Buffer
  /** As its algorithm reads them. */
  numbers: Buffer
}

/** Accepted hash algorithms, by number (RFC 9580, 9.5). */
const HASHES = { 8: 'sha256', 9: 'sha384', 10: 'sha512' } as const
type Hash = (typeof HASHES)[keyof typeof HASHES]

/** Above the length of signatures of the usual programs. */
const BODY_MAX = 512
/** Subpackets allowed in the unhashed area. */
const UNHASHED = new Set<number>([SUBPACKET.issuer, SUBPACKET.issuerFingerprint])

/** Reads the body of a signature packet; null for every other form, nothing of it being judged. */
export function readSignatureForm(body: Uint8Array): SignaturePacketForm | null {
  if (body.length > BODY_MAX || body.length < 10 || body[0] !== 4) return null
  const bytes = bufferOf(body)
  const algorithm = findSignatureAlgorithm(bytes[2])
  const hashId = bytes[3] ?? 0
  if (algorithm === null || !isHash(hashId)) return null
  const { hashed, unhashed } = readAreas(bytes, 2) ?? {}
  if (!hashed?.isPlain || !unhashed?.isPlain || unhashed.end + 2 > bytes.length) return null
  const numbers = algorithm.readSignature(bytes.subarray(unhashed.end + 2))
  if (numbers === null) return null
  return {
    type: bytes[1] ?? 0,
    algorithm: algorithm.id,
    hash: HASHES[hashId],
    hashed: hashed.subpackets,
    unhashed: unhashed.subpackets,
    hashedPart: bytes.subarray(0, hashed.end),
    left: bytes.subarray(unhashed.end, unhashed.end + 2),
    numbers,
  }
}

/** Whether nothing but these kinds of subpackets is hashed, and no notation that is critical. */
export function hasOnly(
  { hashed, unhashed }: SignaturePacketForm,
  kinds: ReadonlySet<number>,
): boolean {
  const isAllowed = ({ kind, isCritical }: Subpacket): boolean =>
    kinds.has(kind) && !(kind === SUBPACKET.notation && isCritical)
  return hashed.every(isAllowed) && unhashed.every(({ kind }) => UNHASHED.has(kind))
}

/** Bytes of the one subpacket of a kind; null when there is none, or more. */
export function soleSubpacket(subpackets: readonly Subpacket[], kind: number): Buffer | null {
  const first = subpackets.find((one) => one.kind === kind)
  const last = subpackets.findLast((one) => one.kind === kind)
  return first === undefined || first !== last ? null : first.bytes
}

/** Creation time in seconds; null unless exactly one subpacket has it. */
export function createdS({ hashed }: SignaturePacketForm): number | null {
  const bytes = soleSubpacket(hashed, SUBPACKET.created)
  return bytes?.length === 4 ? bytes.readUInt32BE() : null
}

/**
 * The issuers that a signature names: a key id or a fingerprint of version 4, hexadecimal; null for one
 * of another form.
 */
export function issuersIn({ hashed, unhashed }: SignaturePacketForm): (string | null)[] {
  const named: (string | null)[] = []
  for (const { kind, bytes } of [...hashed, ...unhashed]) {
    if (kind === SUBPACKET.issuer) named.push(bytes.length === 8 ? hexOf(bytes) : null)
    if (kind !== SUBPACKET.issuerFingerprint) continue
    named.push(bytes.length === 21 && bytes[0] === 4 ? hexOf(bytes.subarray(1)) : null)
  }
  return named
}

/**
 * Whether everything that names an issuer names this one, and something does.
 * @param fingerprint of the key, 20 bytes
 */
export function isIssuedBy(form: SignaturePacketForm, fingerprint: Uint8Array): boolean {
  const named = issuersIn(form)
  const key = hexOf(fingerprint)
  return named.length > 0 && named.every((one) => one !== null && key.endsWith(one))
}

/**
 * The statement of a signature over some bytes by a key (RFC 9580, 5.2.4); null when it cannot be
 * valid: it is of another algorithm, or the first bytes of the digest differ.
 */
export function statementOf(
  form: SignaturePacketForm,
  over: Uint8Array,
  key: SigningKey,
): Statement | null {
  const { hashedPart } = form
  const signed = Buffer.concat([over, hashedPart, trailerOf(hashedPart)])
  return statementOn(form, hash(form.hash, signed, 'buffer'), key)
}

/** The same for the hash of those bytes together with the hashed part. */
export function statementOn(
  form: SignaturePacketForm,
  digest: Uint8Array,
  key: SigningKey,
): Statement | null {
  if (form.algorithm !== key.algorithm || !form.left.equals(digest.subarray(0, 2))) return null
  return { algorithm: key.algorithm, digest, point: key.point, numbers: form.numbers }
}

const isHash = (id: number): id is keyof typeof HASHES => Object.hasOwn(HASHES, id)
