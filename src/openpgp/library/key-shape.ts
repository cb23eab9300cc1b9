/**
 * The shape of a certificate (RFC 9580, 10.1), and of a secret key that somebody brings (10.2 and
 * 5.5.3), read off packet headers and a few bytes before any library parses them.
 */
import { hash } from 'node:crypto'
import { BOUNDS } from '../bounds.ts'
import { bufferOf } from '../bytes.ts'
import { framePacket, keyOver } from '../format/packet-writer.ts'
import type { UnfitReason, UnusableReason } from '../failure-reasons.ts'
import { dearmor } from '../format/armor.ts'
import {
  COMPOSITE,
  FramingError,
  TAG,
  isIgnorable,
  isSecret,
  packetsOf,
} from '../format/packets.ts'
import type { Packet } from '../format/packets.ts'
import { issuerKeyIdsOf } from '../format/signature-claim.ts'

/**
 * Checks an armored text by packet headers and issuers alone. Gives why the library may not parse
 * the text as a certificate, or null.
 */
export function shapeProblem(armored: string): UnusableReason | null {
  if (armored.length > BOUNDS.certificateChars) return 'too-large'
  const bytes = dearmor(armored, 'PUBLIC KEY BLOCK')
  if (bytes === null) return armored.includes('PRIVATE KEY BLOCK') ? 'secret-key' : 'unparseable'
  let packets = 0
  let primaries = 0
  let ownKeyId = ''
  let selfSignatures = 0
  try {
    for (const { tag, body } of packetsOf(bytes)) {
      if (isSecret(tag)) return 'secret-key'
      if (tag === TAG.publicKey && ++primaries > 1) return 'several-certificates'
      if (tag === TAG.publicKey && body[0] !== 4) return 'version'
      if (tag === TAG.publicKey) ownKeyId = keyIdOf(body)
      if (tag === TAG.signature && mayBeOwn(body, ownKeyId)) selfSignatures++
      if (selfSignatures > BOUNDS.selfSignatures) return 'too-large'
      if (++packets > BOUNDS.certificatePackets) return 'too-large'
      if (primaries === 0 && tag !== TAG.marker) return 'unparseable'
    }
  } catch (error) {
    if (error instanceof FramingError) return 'unparseable'
    throw error
  }
  return null
}

/** Whether the library may read a signature as the key's own: it uses the last issuer named. */
function mayBeOwn(signature: Uint8Array, ownKeyId: string): boolean {
  const named = issuerKeyIdsOf(signature)
  return named.length === 0 || named.includes(ownKeyId)
}

/** The key id of a version 4 key, from its body (RFC 9580, 5.5.4.2). */
const keyIdOf = (body: Uint8Array): string =>
  hash('sha1', keyOver(body), 'buffer').toString('hex', 12)

/** How the secret part of each key packet is kept. */
type SecretKept = 'open' | 'locked' | 'stub' | 'card' | 'unusual'

/** What to parse, or why the key is unfit. */
export type Shape = SecretShape | { unfit: UnfitReason }

export interface SecretShape {
  /** The secret key, without packets that are passed over. */
  bytes: Uint8Array
  isLocked: boolean
  /** Its certificate, if that follows it. */
  certificate: Uint8Array | null
}

/** Reads one armored block, or the binary form. Never throws. */
export function shapeOfSecret(file: Uint8Array): Shape {
  if (file.length > BOUNDS.secretKeyBytes) return { unfit: 'too-large' }
  const bytes = bytesOf(file)
  if (typeof bytes === 'string') return { unfit: bytes }
  try {
    return shapeOf(bytes)
  } catch (error) {
    if (error instanceof FramingError || error instanceof RangeError)
      return { unfit: 'unparseable' }
    throw error
  }
}

/** Packets of the binary form begin with the highest bit set, which no text does. */
function bytesOf(file: Uint8Array): Uint8Array | UnfitReason {
  if ((file[0] ?? 0) >= 0x80) return file
  const text = Buffer.from(file).toString('latin1')
  const [secret = '', ...public_] = text.split(/^(?=-----BEGIN PGP PUBLIC KEY BLOCK-----)/m)
  const blocks = [dearmor(secret, 'PRIVATE KEY BLOCK')]
  for (const one of public_) blocks.push(dearmor(one, 'PUBLIC KEY BLOCK'))
  if (blocks.every((one) => one !== null)) return Buffer.concat(blocks)
  const privates = text.match(/^-----BEGIN PGP PRIVATE KEY BLOCK-----/gm)?.length ?? 0
  if (privates > 1) return 'several-keys'
  const isPublic = privates === 0 && text.includes('-----BEGIN PGP PUBLIC KEY BLOCK-----')
  return isPublic ? 'public-only' : 'unparseable'
}

/** A secret key before its certificate, in whichever order a file has them. */
function secretFirst(packets: readonly Packet[]): readonly Packet[] {
  const at = packets.findIndex(({ tag }) => tag === TAG.secretKey)
  const isBehind = packets[0]?.tag === TAG.publicKey && at > 0
  return isBehind ? [...packets.slice(at), ...packets.slice(0, at)] : packets
}

function shapeOf(bytes: Uint8Array): Shape {
  const packets: Packet[] = []
  for (const packet of packetsOf(bytes)) {
    if (packets.push(packet) > BOUNDS.certificatePackets) return { unfit: 'too-large' }
  }
  const read = secretFirst(packets.filter(({ tag }) => !isIgnorable(tag)))
  const end = read.findIndex(({ tag }) => tag === TAG.publicKey)
  if (end === 0) return { unfit: 'public-only' }
  const secret = end === -1 ? read : read.slice(0, end)
  if (secret[0]?.tag !== TAG.secretKey) return { unfit: 'unparseable' }
  const kept: SecretKept[] = []
  const publics: Buffer[] = []
  for (const { tag, body } of secret) {
    if (tag === TAG.secretKey && kept.length > 0) return { unfit: 'several-keys' }
    if (tag === TAG.publicSubkey) return { unfit: 'stub' }
    if (!isSecret(tag)) continue
    if (body[0] !== 4) return { unfit: 'version' }
    const public_ = publicBytes(body)
    if (typeof public_ === 'string') return { unfit: public_ }
    publics.push(bufferOf(body.subarray(0, public_)))
    kept.push(keptAs(body.subarray(public_)))
  }
  const certificate = read.slice(secret.length)
  const unfit = certificateProblem(certificate, publics) ?? secretsProblem(kept)
  if (unfit !== null) return { unfit }
  const behind = certificate.length === 0 ? null : framed(certificate)
  return { bytes: framed(secret), isLocked: kept[0] === 'locked', certificate: behind }
}

const framed = (packets: readonly Packet[]): Buffer =>
  Buffer.concat(packets.map(({ tag, body }) => framePacket(tag, body)))

/** Why packets behind a secret key are not the certificate of its keys; null also without any. */
function certificateProblem(
  packets: Packet[],
  [primary, ...subkeys]: Buffer[],
): UnfitReason | null {
  for (const [at, { tag, body }] of packets.entries()) {
    const isAnother = tag === TAG.publicKey && (at > 0 || !primary?.equals(body))
    if (isAnother || isSecret(tag)) return 'several-keys'
    if (tag === TAG.publicSubkey && !subkeys.some((one) => one.equals(body))) return 'stub'
  }
  return null
}

function secretsProblem(kept: SecretKept[]): UnfitReason | null {
  const [primary] = kept
  if (kept.includes('card')) return 'smartcard'
  if (primary === 'stub' && kept.some((one) => one !== 'stub')) return 'subkeys-only'
  if (kept.includes('stub')) return 'stub'
  const isMixed = kept.some((one) => one !== primary)
  return kept.includes('unusual') || isMixed ? 'unusual-s2k' : null
}

/** The length of a field in a public key: in bytes, or given by its own first byte. */
type Field = (bytes: Buffer, at: number) => number
const mpi: Field = (bytes, at) => 2 + Math.ceil(bytes.readUInt16BE(at) / 8)
const sized: Field = (bytes, at) => 1 + bytes.readUInt8(at)

/** The fields of public key algorithms, in their order in a packet. */
const MATERIAL: Record<number, readonly Field[]> = {
  1: [mpi, mpi],
  2: [mpi, mpi],
  3: [mpi, mpi],
  16: [mpi, mpi, mpi],
  17: [mpi, mpi, mpi, mpi],
  18: [sized, mpi, sized],
  19: [sized, mpi],
  22: [sized, mpi],
  [COMPOSITE]: [() => 32 + 1184],
}
/** Curves of keys that sign and open, by identifier (RFC 9580, 9.2). */
const CURVES = new Set([
  '2a8648ce3d030107',
  '2b81040022',
  '2b81040023',
  '2b06010401da470f01',
  '2b060104019755010501',
])
const ON_CURVES = new Set([18, 19, 22])
/** X25519, X448, Ed25519, Ed448 as RFC 9580 writes them: GnuPG 2.2 and RNP read none of them in v4. */
const NEWER = new Set([25, 26, 27, 28])
const MATERIAL_AT = 6

/** How many bytes of a version 4 key packet are its public part (RFC 9580, 5.5.2 and 5.5.5). */
function publicBytes(body: Uint8Array): number | UnfitReason {
  const algorithm = body[MATERIAL_AT - 1] ?? 0
  if (NEWER.has(algorithm)) return 'newer-algorithm'
  const fields = MATERIAL[algorithm]
  if (fields === undefined) return 'weak-algorithm'
  const bytes = bufferOf(body)
  let at = MATERIAL_AT
  for (const field of fields) at += field(bytes, at)
  const curve = bytes.toString('hex', MATERIAL_AT + 1, MATERIAL_AT + 1 + (bytes[MATERIAL_AT] ?? 0))
  return ON_CURVES.has(algorithm) && !CURVES.has(curve) ? 'unsupported-curve' : at
}

const SHA1_CHECKED = 254
const ITERATED_AND_SALTED = 3
const GNU = 101
const GNU_MARK = Buffer.from('GNU')

/**
 * How the rest of a packet is locked (RFC 9580, 5.5.3 and 3.7.1). GnuPG and openpgp.js lock with an
 * iterated and salted hash, checked by SHA-1; private extension 101 marks a key stored elsewhere.
 */
function keptAs(rest: Uint8Array): SecretKept {
  const [usage = 0, cipher = 0, specifier] = rest
  if (usage === 0) return 'open'
  if (usage < 253) return 'unusual'
  const at = usage === 253 ? 3 : 2
  if (rest[at] === GNU && GNU_MARK.equals(rest.subarray(at + 2, at + 5))) {
    return rest[at + 5] === 2 ? 'card' : 'stub'
  }
  const isOrdinary = usage === SHA1_CHECKED && cipher > 0 && specifier === ITERATED_AND_SALTED
  return isOrdinary ? 'locked' : 'unusual'
}
