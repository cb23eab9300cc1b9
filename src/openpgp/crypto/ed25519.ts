/**
 * Ed25519 over a digest, as OpenPGP signs (RFC 8032; RFC 9580, 5.2.3), by node:crypto, in the
 * encoding that every program reads and in the newer one.
 */
import { sign, verify, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { ALGORITHM, type SignatureAlgorithm, type Statement } from './algorithm.ts'
import { POINT_BYTES, publicOf, rawPublicKey, rawSecretKey } from './curve25519.ts'
import { readMpi } from '../bytes.ts'
import { writeMpi } from '../format/packet-writer.ts'

const NUMBERS_BYTES = 64
/** Curve by its identifier, then a point of 263 bits that begins with 40 (RFC 9580, 9.2 and 11.2). */
const LEGACY_CURVE = Buffer.from('092b06010401da470f01010740', 'hex')

/** A signature with the key that is to have made it, whichever its encoding. */
type Ed25519Statement = Omit<Statement, 'algorithm'>

/** Verifies a signature in some 120 microseconds. */
export function holds({ digest, point, numbers }: Ed25519Statement): boolean {
  return verify(null, digest, publicKey(point), numbers)
}

const verifyAside = promisify(verify)

/** The same, on libuv's pool. */
export const holdsAside = ({ digest, point, numbers }: Ed25519Statement): Promise<boolean> =>
  verifyAside(null, digest, publicKey(point), numbers)

/** Public keys as they were read, for as long as the points themselves are held. */
const read = new WeakMap<Uint8Array, KeyObject>()

function publicKey(point: Uint8Array): KeyObject {
  const kept = read.get(point)
  if (kept !== undefined) return kept
  const key = rawPublicKey(point, 'ed25519')
  read.set(point, key)
  return key
}

const CURVE = {
  publicBytes: POINT_BYTES,
  after: Buffer.alloc(0),
  publicOf,
  /** In some 40 microseconds. */
  sign: (secret: KeyObject, digest: Uint8Array): Buffer => sign(null, digest, secret),
  holds,
  holdsAside,
}

/** EdDSA as it was written before RFC 9580 (5.2.3.3): two integers. */
export const EDDSA_LEGACY: SignatureAlgorithm = {
  ...CURVE,
  id: ALGORITHM.eddsaLegacy,
  info: { algorithm: 'eddsaLegacy' },
  before: LEGACY_CURVE,

  readSecret(material) {
    const seed = Buffer.alloc(32)
    if (readMpi(material, seed) !== material.length) return null
    const secret = rawSecretKey(seed, 'ed25519')
    seed.fill(0)
    return secret
  },

  readSignature(bytes) {
    const numbers = Buffer.alloc(NUMBERS_BYTES)
    const r = readMpi(bytes, numbers.subarray(0, 32))
    const s = r && readMpi(bytes.subarray(r), numbers.subarray(32))
    return r && s && r + s === bytes.length ? numbers : null
  },

  writeSignature: (numbers) =>
    Buffer.concat([writeMpi(numbers.subarray(0, 32)), writeMpi(numbers.subarray(32))]),
}

/** Ed25519 (RFC 9580, 5.2.3.4): 64 bytes as they are. */
export const ED25519: SignatureAlgorithm = {
  ...CURVE,
  id: ALGORITHM.ed25519,
  info: { algorithm: 'ed25519' },
  before: Buffer.alloc(0),
  readSecret: (material) => (material.length === 32 ? rawSecretKey(material, 'ed25519') : null),
  readSignature: (bytes) => (bytes.length === NUMBERS_BYTES ? bytes : null),
  writeSignature: (numbers) => numbers,
}
