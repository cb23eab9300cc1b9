/** X25519 as RFC 9580 writes it (5.1.6 and 5.5.5.7): the newer encoding on the same curve. */
import { hkdfSync } from 'node:crypto'
import { ALGORITHM, type RecipientAlgorithm } from './algorithm.ts'
import { keyBytesOf } from '../format/ciphers.ts'
import { CURVE25519_KEYS, POINT_BYTES, agreeAgain, rawSecretKey } from './curve25519.ts'
import { unwrapKey, wrapKey, wrappedLength } from './session-key.ts'

const INFO = 'OpenPGP X25519'
const KEY_BYTES = 16
/** Bytes of a wrapped session key: of AES with 128, 192 or 256 bits. */
const WRAPPED_SIZES = new Set([24, 32, 40])

/** Derives the 16 bytes of the wrapping key, and zeroes the shared secret. */
function wrappingKey(shared: Buffer, ephemeral: Uint8Array, point: Uint8Array): Buffer {
  const input = Buffer.concat([ephemeral, point, shared])
  shared.fill(0)
  const derived = Buffer.from(hkdfSync('sha256', input, '', INFO, KEY_BYTES))
  input.fill(0)
  return derived
}

export const X25519: RecipientAlgorithm = {
  id: ALGORITHM.x25519,
  label: 'X25519',
  info: { algorithm: 'x25519' },
  ...CURVE25519_KEYS,
  before: Buffer.alloc(0),
  after: Buffer.alloc(0),

  readSecret: (material) => (material.length === 32 ? rawSecretKey(material, 'x25519') : null),

  wrappedBytes: (cipher) => POINT_BYTES + 2 + wrappedLength(keyBytesOf(cipher)),

  readWrapped(bytes) {
    // The byte after the point is the length of the rest, which ends the packet.
    if (bytes.length !== POINT_BYTES + 1 + (bytes[POINT_BYTES] ?? 0)) return null
    const wrapped = bytes.subarray(POINT_BYTES + 2)
    if (!WRAPPED_SIZES.has(wrapped.length)) return null
    const cipher = bytes[POINT_BYTES + 1] ?? 0
    return { ephemeral: bytes.subarray(0, POINT_BYTES), cipher, wrapped }
  },

  wrap({ cipher, data }, ephemeral, { recipient, target, at }) {
    const shared = agreeAgain(ephemeral.secret, recipient.point)
    const wrapped = wrapKey(wrappingKey(shared, ephemeral.point, recipient.point), data)
    target.set(ephemeral.point, at)
    target[at + POINT_BYTES] = wrapped.length + 1
    target[at + POINT_BYTES + 1] = cipher
    target.set(wrapped, at + POINT_BYTES + 2)
  },

  unwrap({ ephemeral, cipher, wrapped }, own, shared) {
    const data = unwrapKey(wrappingKey(shared, ephemeral, own.point), wrapped)
    return data === null || cipher === null ? null : { cipher, data }
  },
}
