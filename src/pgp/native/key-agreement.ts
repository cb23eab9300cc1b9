/** The key that wraps a session key, from what two keys share (RFC 9580, 5.1.6 and 11.5). */
import { hash, hkdfSync } from 'node:crypto'
import { ALGORITHM, KDF, type SealingKey } from './curve-key.ts'

/** Curve, algorithm, derivation and a fixed text stand before the recipient's fingerprint. */
const PARAMETERS = Buffer.concat([
  Buffer.from('0a2b060104019755010501', 'hex'),
  Buffer.from([ALGORITHM.ecdh]),
  KDF,
  Buffer.from('Anonymous Sender    '),
])
const COUNTER = Buffer.from([0, 0, 0, 1])
const X25519_INFO = 'OpenPGP X25519'
const KEY_BYTES = 16

/** The recipient's key, as sealing to it wants it. */
export interface Agreeing {
  algorithm: SealingKey['algorithm']
  /** 20 octets. */
  fingerprint: Uint8Array
  /** 32 octets. */
  point: Uint8Array
}

/**
 * Gives the 16 octets of the wrapping key, and zeroes what was shared.
 * @param shared 32 octets
 * @param ephemeral the sender's public point, 32 octets
 */
export function wrappingKey(
  shared: Buffer,
  ephemeral: Uint8Array,
  { algorithm, fingerprint, point }: Agreeing,
): Buffer {
  const isPlain = algorithm === ALGORITHM.x25519
  const input = Buffer.concat(
    isPlain ? [ephemeral, point, shared] : [COUNTER, shared, PARAMETERS, fingerprint],
  )
  shared.fill(0)
  const derived = isPlain
    ? Buffer.from(hkdfSync('sha256', input, '', X25519_INFO, KEY_BYTES))
    : hash('sha256', input, 'buffer').subarray(0, KEY_BYTES)
  input.fill(0)
  return derived
}
