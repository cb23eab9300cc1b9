/** ECDH on Curve25519 (RFC 9580, 11), the encoding that every OpenPGP program reads. */
import { hash } from 'node:crypto'
import { ALGORITHM, type RecipientAlgorithm } from './algorithm.ts'
import { keyBytesOf } from '../format/ciphers.ts'
import { CURVE25519_KEYS, POINT_BYTES, agreeAgain, rawSecretKey } from './curve25519.ts'
import { readMpi } from '../bytes.ts'
import { paddedLength, unpadSessionKey, unwrapKey, wrapKey, wrappedLength } from './session-key.ts'

/** Curve by its identifier, then a point of 263 bits that begins with 40 (RFC 9580, 9.2 and 11.2). */
const CURVE25519 = Buffer.from('0a2b060104019755010501010740', 'hex')
/** The key is derived by SHA-256 and wraps with AES-128 (RFC 9580, 11.5). */
const KDF = Buffer.from('03010807', 'hex')
/** MPI length of 263 bits, and the prefix byte of a native point (RFC 9580, 11.2). */
const POINT_START = Buffer.from('010740', 'hex')
/** Bytes of a wrapped session key: of AES with 128, 192 or 256 bits. */
const WRAPPED_SIZES = new Set([32, 40, 48])

const FINGERPRINT_BYTES = 20
const SHARED_BYTES = 32
const KEY_BYTES = 16
const COUNTER = Buffer.from([0, 0, 0, 1])
/**
 * Input of the key derivation: counter, shared secret, curve, algorithm, parameters, a fixed text
 * and the recipient's fingerprint (RFC 9580, 11.5). `wrappingKey` fills in secret and fingerprint.
 */
const INPUT = Buffer.concat([
  COUNTER,
  Buffer.alloc(SHARED_BYTES),
  CURVE25519.subarray(0, 11),
  Buffer.from([ALGORITHM.ecdh]),
  KDF,
  Buffer.from('Anonymous Sender    '),
  Buffer.alloc(FINGERPRINT_BYTES),
])

/** Derives the 16 bytes of the wrapping key, and zeroes the shared secret. */
function wrappingKey(shared: Buffer, fingerprint: Uint8Array): Buffer {
  INPUT.set(shared, COUNTER.length)
  INPUT.set(fingerprint, INPUT.length - FINGERPRINT_BYTES)
  shared.fill(0)
  const derived = hash('sha256', INPUT, 'buffer').subarray(0, KEY_BYTES)
  INPUT.fill(0, COUNTER.length, COUNTER.length + SHARED_BYTES)
  return derived
}

export const ECDH: RecipientAlgorithm = {
  id: ALGORITHM.ecdh,
  label: 'Curve25519',
  info: { algorithm: 'ecdh', curve: 'curve25519Legacy' },
  ...CURVE25519_KEYS,
  before: CURVE25519,
  after: KDF,

  /** An integer, most significant byte first, unlike the curve's own specification. */
  readSecret(material) {
    const number = Buffer.alloc(32)
    if (readMpi(material, number) !== material.length) return null
    const scalar = Buffer.from(number.toReversed())
    number.fill(0)
    const secret = rawSecretKey(scalar, 'x25519')
    scalar.fill(0)
    return secret
  },

  wrappedBytes: (cipher) =>
    POINT_START.length + POINT_BYTES + 1 + wrappedLength(paddedLength(keyBytesOf(cipher))),

  readWrapped(bytes) {
    if (!bytes.subarray(0, POINT_START.length).equals(POINT_START)) return null
    const end = POINT_START.length + POINT_BYTES
    // The byte after the point is the length of the rest, which ends the packet.
    if (bytes.length !== end + 1 + (bytes[end] ?? 0)) return null
    const wrapped = bytes.subarray(end + 1)
    if (!WRAPPED_SIZES.has(wrapped.length)) return null
    return { ephemeral: bytes.subarray(POINT_START.length, end), cipher: null, wrapped }
  },

  wrap({ padded }, ephemeral, { recipient, target, at }) {
    const shared = agreeAgain(ephemeral.secret, recipient.point)
    const wrapped = wrapKey(wrappingKey(shared, recipient.fingerprint), padded)
    target.set(POINT_START, at)
    target.set(ephemeral.point, at + POINT_START.length)
    const end = at + POINT_START.length + POINT_BYTES
    target[end] = wrapped.length
    target.set(wrapped, end + 1)
  },

  unwrap({ wrapped }, own, shared) {
    const unwrapped = unwrapKey(wrappingKey(shared, own.fingerprint), wrapped)
    return unwrapped && unpadSessionKey(unwrapped)
  },
}
