/**
 * ML-KEM-768+X25519 (draft-ietf-openpgp-pqc, 4), algorithm 35: both must be broken to read a
 * session key. Allowed in subkeys of version 4. ML-KEM is that of node:crypto (FIPS 203).
 */
import {
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  decapsulate,
  encapsulate,
  hash,
  type KeyObject,
} from 'node:crypto'
import { bufferOf } from '../bytes.ts'
import { ALGORITHM, type RecipientAlgorithm } from './algorithm.ts'
import {
  POINT_BYTES,
  agreeAgain,
  agreeWith,
  isLowOrder,
  publicOf,
  rawSecretKey,
  takePair,
} from './curve25519.ts'
import { withOpenCipher } from './session-key.ts'

/** Sizes of FIPS 203, 8: a public key, a ciphertext, and the two seeds `d` and `z` together. */
const KEM_PUBLIC_BYTES = 1184
const KEM_SEALED_BYTES = 1088
const SEED_BYTES = 64
const KEM = 'ml-kem-768'

/** Of an X25519 point and an ML-KEM ciphertext, which begin a recipient packet's fields. */
const SEALED_BYTES = POINT_BYTES + KEM_SEALED_BYTES
/** Of a secret: an X25519 scalar and the seeds. */
const SECRET_BYTES = POINT_BYTES + SEED_BYTES
/** `algId || domSep || len(domSep)` of the key combiner. */
const DOMAIN = Buffer.concat([
  Buffer.of(ALGORITHM.mlKem768X25519),
  Buffer.from('OpenPGPCompositeKDFv1'),
  Buffer.of(21),
])

/** The key combiner (draft, 4.2.1): the 32 bytes of the wrapping key. Zeroes the shared secrets. */
function wrappingKey(shared: Buffer, sealed: Uint8Array, point: Uint8Array): Buffer {
  const parts = [shared, sealed.subarray(0, POINT_BYTES), point.subarray(0, POINT_BYTES), DOMAIN]
  const input = Buffer.concat(parts)
  shared.fill(0)
  const derived = hash('sha3-256', input, 'buffer')
  input.fill(0)
  return derived
}

/** The two parsed secrets of one key: expanding the seeds needs 160 µs. */
const parsed = new WeakMap<KeyObject, { curve: KeyObject; kem: KeyObject }>()

function secretsOf(secret: KeyObject): { curve: KeyObject; kem: KeyObject } {
  const kept = parsed.get(secret)
  if (kept !== undefined) return kept
  const bytes = secret.export()
  const seed = bytes.subarray(POINT_BYTES)
  const both = {
    curve: rawSecretKey(bytes.subarray(0, POINT_BYTES), 'x25519'),
    kem: createPrivateKey({ key: seed, format: 'raw-seed', asymmetricKeyType: KEM }),
  }
  bytes.fill(0)
  parsed.set(secret, both)
  return both
}

/** @throws Error for coefficients at or above the modulus (FIPS 203, 7.2) */
function kemKey(point: Uint8Array): KeyObject {
  const key = bufferOf(point).subarray(POINT_BYTES)
  return createPublicKey({ key, format: 'raw-public', asymmetricKeyType: KEM })
}

const { write, ...form } = withOpenCipher(SEALED_BYTES, wrappingKey)

/** A secret is one key of node:crypto: the 96 bytes of both parts, as packets have them. */
export const ML_KEM_768_X25519: RecipientAlgorithm = {
  id: ALGORITHM.mlKem768X25519,
  label: 'ML-KEM-768+X25519',
  isComposite: true,
  info: { algorithm: 'mlKem768X25519' },
  publicBytes: POINT_BYTES + KEM_PUBLIC_BYTES,
  before: Buffer.alloc(0),
  after: Buffer.alloc(0),

  readSecret: (material) => (material.length === SECRET_BYTES ? createSecretKey(material) : null),

  publicOf(secret) {
    const { curve, kem } = secretsOf(secret)
    return Buffer.concat([publicOf(curve), publicOf(kem)])
  },

  isSound(point) {
    if (isLowOrder(point.subarray(0, POINT_BYTES))) return false
    try {
      return kemKey(point).asymmetricKeyType === KEM
    } catch {
      return false
    }
  },

  ...form,
  ephemeral: takePair,

  wrap(sessionKey, { secret, point }, to) {
    const curve = agreeAgain(secret, to.recipient.point.subarray(0, POINT_BYTES))
    const { sharedKey, ciphertext } = encapsulate(kemKey(to.recipient.point))
    const shared = Buffer.concat([sharedKey, curve])
    curve.fill(0)
    sharedKey.fill(0)
    write(sessionKey, { shared, sealed: Buffer.concat([point, ciphertext]) }, to)
  },

  /** A ciphertext that nobody made gives another secret, not an error (FIPS 203, 6.3). */
  agree({ ephemeral }, secret) {
    const { curve, kem } = secretsOf(secret)
    const shared = agreeWith(curve, ephemeral.subarray(0, POINT_BYTES))
    if (shared === null) return null
    const sharedKey = decapsulate(kem, ephemeral.subarray(POINT_BYTES))
    const both = Buffer.concat([sharedKey, shared])
    sharedKey.fill(0)
    shared.fill(0)
    return both
  },
}
