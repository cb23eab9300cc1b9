/** The key that wraps a session key, from what two keys share (RFC 9580, 5.1.6 and 11.5). */
import { hash, hkdfSync } from 'node:crypto'
import { ALGORITHM, KDF, type RecipientKey } from './public-key.ts'

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
const SHARED_BYTES = 32
const FINGERPRINT_BYTES = 20
/** What is hashed, with room for what is shared and for a fingerprint. */
const INPUT = Buffer.concat([
  COUNTER,
  Buffer.alloc(SHARED_BYTES),
  PARAMETERS,
  Buffer.alloc(FINGERPRINT_BYTES),
])

/** The recipient's key, as sealing to it wants it. */
export interface Agreeing {
  algorithm: RecipientKey['algorithm']
  /** 20 bytes. */
  fingerprint: Uint8Array
  /** 32 bytes. */
  point: Uint8Array
}

/**
 * Gives the 16 bytes of the wrapping key, and zeroes what was shared.
 * @param shared 32 bytes
 * @param ephemeral the sender's public point, 32 bytes
 */
export function wrappingKey(
  shared: Buffer,
  ephemeral: Uint8Array,
  { algorithm, fingerprint, point }: Agreeing,
): Buffer {
  if (algorithm === ALGORITHM.x25519) {
    const input = Buffer.concat([ephemeral, point, shared])
    shared.fill(0)
    const derived = Buffer.from(hkdfSync('sha256', input, '', X25519_INFO, KEY_BYTES))
    input.fill(0)
    return derived
  }
  INPUT.set(shared, COUNTER.length)
  INPUT.set(fingerprint, INPUT.length - FINGERPRINT_BYTES)
  shared.fill(0)
  const derived = hash('sha256', INPUT, 'buffer').subarray(0, KEY_BYTES)
  INPUT.fill(0, COUNTER.length, COUNTER.length + SHARED_BYTES)
  return derived
}
