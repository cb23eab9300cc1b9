/**
 * The shape of a secret key that somebody brings (RFC 9580, 10.2 and 5.5.3), read off packet headers
 * and the few bytes that say how it is locked, before any library parses it.
 */
import { dearmor } from '../format/armor.ts'
import type { UnfitReason } from '../engine.ts'
import { FramingError, TAG, packetsOf } from '../format/packets.ts'
import { BOUNDS } from '../bounds.ts'
import { bufferOf } from '../bytes.ts'

/** How the secret part of each key packet is kept. */
type Kept = 'open' | 'locked' | 'stub' | 'card' | 'unusual'

/** Either what may be parsed, and whether it is locked, or why it is nothing for us. */
export type Shape = { bytes: Uint8Array; isLocked: boolean } | { unfit: UnfitReason }

/** Takes a file as it came: one armored block, or the binary form. Never throws. */
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
  const bytes = dearmor(text, 'PRIVATE KEY BLOCK')
  if (bytes !== null) return bytes
  const blocks = text.match(/^-----BEGIN PGP PRIVATE KEY BLOCK-----/gm)?.length ?? 0
  if (blocks > 1) return 'several-keys'
  const isPublic = blocks === 0 && text.includes('-----BEGIN PGP PUBLIC KEY BLOCK-----')
  return isPublic ? 'public-only' : 'unparseable'
}

function shapeOf(bytes: Uint8Array): Shape {
  const kept: Kept[] = []
  let packets = 0
  for (const { tag, body } of packetsOf(bytes)) {
    if (++packets > BOUNDS.certificatePackets) return { unfit: 'too-large' }
    if (packets === 1 && tag === TAG.publicKey) return { unfit: 'public-only' }
    if (packets === 1 && tag !== TAG.secretKey) return { unfit: 'unparseable' }
    if (packets > 1 && (tag === TAG.secretKey || tag === TAG.publicKey)) {
      return { unfit: 'several-keys' }
    }
    if (tag === TAG.publicSubkey) return { unfit: 'stub' }
    if (tag !== TAG.secretKey && tag !== TAG.secretSubkey) continue
    if (body[0] !== 4) return { unfit: 'version' }
    const public_ = publicBytes(body)
    if (typeof public_ === 'string') return { unfit: public_ }
    kept.push(keptAs(body.subarray(public_)))
  }
  return judge(bytes, kept)
}

function judge(bytes: Uint8Array, kept: Kept[]): Shape {
  const [primary] = kept
  if (primary === undefined) return { unfit: 'unparseable' }
  if (kept.includes('card')) return { unfit: 'smartcard' }
  if (primary === 'stub' && kept.some((one) => one !== 'stub')) return { unfit: 'subkeys-only' }
  if (kept.includes('stub')) return { unfit: 'stub' }
  const isMixed = kept.some((one) => one !== primary)
  if (kept.includes('unusual') || isMixed) return { unfit: 'unusual-s2k' }
  return { bytes, isLocked: primary === 'locked' }
}

/** Numbers and curve names of public key algorithms, in the order that they stand in a packet. */
const MATERIAL: Record<number, readonly ('mpi' | 'oid' | 'kdf')[]> = {
  1: ['mpi', 'mpi'],
  2: ['mpi', 'mpi'],
  3: ['mpi', 'mpi'],
  16: ['mpi', 'mpi', 'mpi'],
  17: ['mpi', 'mpi', 'mpi', 'mpi'],
  18: ['oid', 'mpi', 'kdf'],
  19: ['oid', 'mpi'],
  22: ['oid', 'mpi'],
}
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
  for (const field of fields) {
    at += field === 'mpi' ? 2 + Math.ceil(bytes.readUInt16BE(at) / 8) : 1 + bytes.readUInt8(at)
  }
  return at
}

const SHA1_CHECKED = 254
const ITERATED_AND_SALTED = 3
const GNU = 101
const GNU_MARK = Buffer.from('GNU')

/**
 * How the rest of a packet is locked (RFC 9580, 5.5.3 and 3.7.1). GnuPG and openpgp.js lock with an
 * iterated and salted hash, checked by SHA-1; private extension 101 says that it is elsewhere.
 */
function keptAs(rest: Uint8Array): Kept {
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
