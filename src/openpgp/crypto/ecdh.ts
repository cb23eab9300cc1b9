/** ECDH on Curve25519 (RFC 9580, 11), the encoding that every OpenPGP program reads. */
import { hash } from 'node:crypto'
import { ALGORITHM, type RecipientAlgorithm } from './algorithm.ts'
import { keyBytesOf } from '../format/ciphers.ts'
import { CURVE25519_KEYS, POINT_BYTES, agreeAgain, rawSecretKey } from './curve25519.ts'
import { bufferOf, readMpi } from '../bytes.ts'
import { paddedLength, unpadSessionKey, unwrapKey, wrapKey, wrappedLength } from './session-key.ts'

/** Curve by its identifier, then a point of 263 bits that begins with 40 (RFC 9580, 9.2 and 11.2). */
const CURVE25519 = Buffer.from('0a2b060104019755010501010740', 'hex')
/** The key is derived by SHA-256 and wraps with AES-128 (RFC 9580, 11.5). */
const KDF = Buffer.from('03010807', 'hex')
/** MPI length of 263 bits, and the prefix byte of a native point (RFC 9580, 11.2). */
const POINT_START = Buffer.from('010740', 'hex')
/** Bytes of a wrapped session key: of AES with 128, 192 or 256 bits. */
const WRAPPED_SIZES = new Set([32, 40, 48])

/** Input of the key derivation (RFC 9580, 11.5); counter, secret and fingerprint vary. */
const INPUT = Buffer.concat([
  Buffer.alloc(4 + POINT_BYTES),
  CURVE25519.subarray(0, 11),
  Buffer.from([ALGORITHM.ecdh]),
  KDF,
  Buffer.from('Anonymous Sender    '),
  Buffer.alloc(20),
])

/** Derives the 16 bytes of the wrapping key. @param shared the secret, of at most 32 bytes */
function wrappingKey(shared: Uint8Array, fingerprint: Uint8Array): Buffer {
  const at = POINT_BYTES - shared.length
  INPUT.writeUInt32BE(1, at)
  INPUT.set(shared, at + 4)
  INPUT.set(fingerprint, INPUT.length - 20)
  const derived = hash('sha256', INPUT.subarray(at), 'buffer').subarray(0, 16)
  INPUT.fill(0, 0, 4 + POINT_BYTES)
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
    const number = Buffer.alloc(POINT_BYTES)
    if (readMpi(material, number) !== material.length) return null
    const scalar = bufferOf(number.toReversed())
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
    shared.fill(0)
    target.set(POINT_START, at)
    target.set(ephemeral.point, at + POINT_START.length)
    const end = at + POINT_START.length + POINT_BYTES
    target[end] = wrapped.length
    target.set(wrapped, end + 1)
  },

  unwrap({ wrapped }, own, shared) {
    const open = (form: Buffer) => unwrapKey(wrappingKey(form, own.fingerprint), wrapped)
    // old programs leave out zeros at an end of the secret, as openpgp.js knows
    const unwrapped =
      open(shared) ??
      (shared[0] === 0 ? open(shared.subarray(shared.findIndex(Boolean))) : null) ??
      (shared.at(-1) === 0 ? open(shared.subarray(0, shared.findLastIndex(Boolean) + 1)) : null)
    shared.fill(0)
    return unwrapped && unpadSessionKey(unwrapped)
  },
}
