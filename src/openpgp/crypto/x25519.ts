/** X25519 as RFC 9580 writes it (5.1.6 and 5.5.5.7): the newer encoding on the same curve. */
import { hkdfSync } from 'node:crypto'
import { ALGORITHM, type RecipientAlgorithm } from './algorithm.ts'
import { CURVE25519_KEYS, POINT_BYTES, agreeAgain, rawSecretKey } from './curve25519.ts'
import { withOpenCipher } from './session-key.ts'

const INFO = 'OpenPGP X25519'
const KEY_BYTES = 16

/** Derives the 16 bytes of the wrapping key, and zeroes the shared secret. */
function wrappingKey(shared: Buffer, ephemeral: Uint8Array, point: Uint8Array): Buffer {
  const input = Buffer.concat([ephemeral, point, shared])
  shared.fill(0)
  const derived = Buffer.from(hkdfSync('sha256', input, '', INFO, KEY_BYTES))
  input.fill(0)
  return derived
}

const { write, ...form } = withOpenCipher(POINT_BYTES, wrappingKey)

export const X25519: RecipientAlgorithm = {
  id: ALGORITHM.x25519,
  label: 'X25519',
  info: { algorithm: 'x25519' },
  ...CURVE25519_KEYS,
  ...form,
  before: Buffer.alloc(0),
  after: Buffer.alloc(0),

  readSecret: (material) => (material.length === 32 ? rawSecretKey(material, 'x25519') : null),

  wrap(sessionKey, { secret, point }, to) {
    write(sessionKey, { shared: agreeAgain(secret, to.recipient.point), sealed: point }, to)
  },
}
