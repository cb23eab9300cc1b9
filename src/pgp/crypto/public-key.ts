/** Public keys of version 4 on Curve25519, in the encodings in use (RFC 9580, 5.5.5 and 5.5.6). */
import { hash } from 'node:crypto'
import { bufferOf } from '../bytes.ts'

/** Algorithms by number (RFC 9580, 9.1). */
export const ALGORITHM = { ecdh: 18, eddsaLegacy: 22, x25519: 25, ed25519: 27 } as const

/** A key that encrypts. */
export interface RecipientKey {
  algorithm: typeof ALGORITHM.ecdh | typeof ALGORITHM.x25519
  createdS: number
  /** 32 bytes. */
  point: Uint8Array
}

/** A key that signs. */
export interface SigningKey {
  algorithm: typeof ALGORITHM.eddsaLegacy | typeof ALGORITHM.ed25519
  createdS: number
  /** 32 bytes. */
  point: Uint8Array
}

export type NativePublicKey = RecipientKey | SigningKey

const POINT = 32
/** Version and date of creation come first. */
const START = 5
/** What `keyOver` puts before a body. */
const KEY_OVER = 3
/** Curve by its identifier, then a point of 263 bits that begins with 40 (RFC 9580, 9.2 and 11.2). */
const ED25519 = Buffer.from('092b06010401da470f01010740', 'hex')
const CURVE25519 = Buffer.from('0a2b060104019755010501010740', 'hex')
/** The key is derived by SHA-256 and wraps with AES-128 (RFC 9580, 11.5). */
export const KDF = Buffer.from('03010807', 'hex')

/** What stands before and after the point. */
const AROUND: Record<NativePublicKey['algorithm'], { before: Buffer; after: Buffer }> = {
  [ALGORITHM.ecdh]: { before: CURVE25519, after: KDF },
  [ALGORITHM.eddsaLegacy]: { before: ED25519, after: Buffer.alloc(0) },
  [ALGORITHM.x25519]: { before: Buffer.alloc(0), after: Buffer.alloc(0) },
  [ALGORITHM.ed25519]: { before: Buffer.alloc(0), after: Buffer.alloc(0) },
}

/** Reads the public part at the start of a key packet's body; null for every other form. */
export function readPublicKey(body: Uint8Array): { key: NativePublicKey; read: number } | null {
  const bytes = bufferOf(body)
  const algorithm = bytes[START]
  if (bytes[0] !== 4 || bytes.length < START + 1 || !isKnown(algorithm)) return null
  const { before, after } = AROUND[algorithm]
  const at = START + 1
  const start = at + before.length
  const end = start + POINT
  const read = end + after.length
  if (bytes.length < read) return null
  if (!bytes.subarray(at, start).equals(before)) return null
  if (!bytes.subarray(end, read).equals(after)) return null
  const key = { algorithm, createdS: bytes.readUInt32BE(1), point: bytes.subarray(start, end) }
  return { key, read }
}

/** The same for a body that holds nothing else. */
export function publicKeyOf(body: Uint8Array): NativePublicKey | null {
  const found = readPublicKey(body)
  return found !== null && found.read === body.length ? found.key : null
}

export function isRecipientKey(key: NativePublicKey): key is RecipientKey {
  return key.algorithm === ALGORITHM.ecdh || key.algorithm === ALGORITHM.x25519
}

export function isSigningKey(key: NativePublicKey): key is SigningKey {
  return !isRecipientKey(key)
}

/** Writes what `readPublicKey` reads. */
export function publicKeyBody(key: NativePublicKey): Buffer {
  const { before, after } = AROUND[key.algorithm]
  const start = Buffer.alloc(START + 1)
  start[0] = 4
  start.writeUInt32BE(key.createdS, 1)
  start[START] = key.algorithm
  return Buffer.concat([start, before, key.point, after])
}

/** A key's fingerprint, 20 bytes; the last 8 are its key id (RFC 9580, 5.5.4.2). */
export function fingerprintOf({ algorithm, createdS, point }: NativePublicKey): Buffer {
  const { bytes, pointAt } = OVER[algorithm]
  bytes.writeUInt32BE(createdS, 4)
  bytes.set(point, pointAt)
  return hash('sha1', bytes, 'buffer')
}

/** A key's body as signatures and its fingerprint are computed over it (RFC 9580, 5.2.4). */
export function keyOver(body: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([0x99, body.length >> 8, body.length & 0xff]), body])
}

function isKnown(algorithm: number | undefined): algorithm is NativePublicKey['algorithm'] {
  return algorithm !== undefined && Object.hasOwn(AROUND, algorithm)
}

/** What a fingerprint is computed over, but for date and point: that of a large group, often. */
function overOf(algorithm: NativePublicKey['algorithm']): { bytes: Buffer; pointAt: number } {
  const { before } = AROUND[algorithm]
  const bytes = keyOver(publicKeyBody({ algorithm, createdS: 0, point: Buffer.alloc(POINT) }))
  return { bytes, pointAt: KEY_OVER + START + 1 + before.length }
}

const OVER: Record<NativePublicKey['algorithm'], { bytes: Buffer; pointAt: number }> = {
  [ALGORITHM.ecdh]: overOf(ALGORITHM.ecdh),
  [ALGORITHM.eddsaLegacy]: overOf(ALGORITHM.eddsaLegacy),
  [ALGORITHM.x25519]: overOf(ALGORITHM.x25519),
  [ALGORITHM.ed25519]: overOf(ALGORITHM.ed25519),
}
