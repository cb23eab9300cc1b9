/** Recipient packets of the common forms: version 3, for Curve25519 (RFC 9580, 5.1). */
import { TAG } from '../format/packets.ts'
import { ALGORITHM, type RecipientKey } from './public-key.ts'
import { wrappingKey, type Agreeing } from './key-agreement.ts'

import type { OwnSecret } from '../native/own-keys.ts'
import { keyBytesOf, type CipherId } from './ciphers.ts'
import { paddedLength, unpadSessionKey, unwrapKey, wrapKey } from './session-key.ts'
import { agree, agreeAgain, type Ephemeral } from './curve25519.ts'
import { bufferOf } from '../bytes.ts'

/** What a packet says, as it stands. */
export interface RecipientForm {
  /** 16 lower-case hexadecimal characters. */
  keyId: string
  algorithm: RecipientKey['algorithm']
  /** The sender's point, 32 bytes. */
  ephemeral: Buffer
  /** The cipher where it stands in the clear, as for X25519. */
  cipher: number | null
  wrapped: Buffer
}

const VERSION = 3
const POINT = 32
/** Of a packet in the new format, which is shorter than 192 bytes. */
const HEADER = 2
/** Version, key id and algorithm come first. */
const START = 10
/** 263 bits, of which the first byte says what follows (RFC 9580, 11.2). */
const POINT_START = Buffer.from('010740', 'hex')
/** Bytes of a wrapped session key: of AES with 128, 192 or 256 bits. */
const PADDED_SIZES = new Set([32, 40, 48])
const PLAIN_SIZES = new Set([24, 32, 40])

/** Reads the body of a packet; null for every other form. */
export function readRecipient(body: Uint8Array): RecipientForm | null {
  const bytes = bufferOf(body)
  const algorithm = bytes[START - 1]
  if (bytes[0] !== VERSION) return null
  if (algorithm !== ALGORITHM.ecdh && algorithm !== ALGORITHM.x25519) return null
  const isPlain = algorithm === ALGORITHM.x25519
  const pointAt = isPlain ? START : START + POINT_START.length
  if (!isPlain && !bytes.subarray(START, pointAt).equals(POINT_START)) return null
  // What follows the point says how long it is, and nothing stands after it.
  const end = pointAt + POINT
  if (bytes.length !== end + 1 + (bytes[end] ?? 0)) return null
  const wrapped = bytes.subarray(isPlain ? end + 2 : end + 1)
  if (!(isPlain ? PLAIN_SIZES : PADDED_SIZES).has(wrapped.length)) return null
  return {
    keyId: bytes.toString('hex', 1, 9),
    algorithm,
    ephemeral: bytes.subarray(pointAt, end),
    cipher: isPlain ? (bytes[end + 1] ?? 0) : null,
    wrapped,
  }
}

/**
 * What our key and the sender's point share, for `openRecipient`, which zeroes it; null for a point
 * of low order.
 */
export function sharedWith(form: RecipientForm, own: OwnSecret<RecipientKey>): Buffer | null {
  try {
    return agree(own.secret, form.ephemeral)
  } catch {
    return null
  }
}

/**
 * Opens a packet with our key.
 * @param shared of `sharedWith`, with the same key
 * @returns the session key, to be zeroed after use; null when it does not open
 */
export function openRecipient(
  form: RecipientForm,
  own: OwnSecret<RecipientKey>,
  shared = sharedWith(form, own),
): { cipher: number; data: Buffer } | null {
  const { algorithm, point } = own.key
  if (shared === null) return null
  const ours = { algorithm, point, fingerprint: own.fingerprint }
  const key = wrappingKey(shared, form.ephemeral, ours)
  const unwrapped = unwrapKey(key, form.wrapped)
  key.fill(0)
  if (unwrapped === null) return null
  if (form.cipher !== null) return { cipher: form.cipher, data: unwrapped }
  return unpadSessionKey(unwrapped)
}

/** Bytes of the packet that `writeRecipient` writes. */
export function recipientBytes(algorithm: RecipientKey['algorithm'], cipher: CipherId): number {
  const keyBytes = keyBytesOf(cipher)
  const start = HEADER + START
  if (algorithm === ALGORITHM.x25519) return start + POINT + 2 + keyBytes + 8
  return start + POINT_START.length + POINT + 1 + paddedLength(keyBytes) + 8
}

/**
 * Writes the packet that gives a recipient the session key.
 * @param sessionKey with what `padSessionKey` makes of it
 * @param ephemeral a pair that was never used before and is not used again
 * @param to `target` and the place in it where the packet begins
 * @throws Error for a recipient whose point is of low order
 */
export function writeRecipient(
  sessionKey: { cipher: CipherId; data: Uint8Array; padded: Uint8Array },
  ephemeral: Ephemeral,
  { recipient, target, at }: { recipient: Agreeing; target: Uint8Array; at: number },
): void {
  const { algorithm, fingerprint, point } = recipient
  const key = wrappingKey(agreeAgain(ephemeral.secret, point), ephemeral.point, recipient)
  const isPlain = algorithm === ALGORITHM.x25519
  const wrapped = wrapKey(key, isPlain ? sessionKey.data : sessionKey.padded)
  key.fill(0)
  target[at] = 0xc0 | TAG.pkesk
  target[at + 1] = recipientBytes(algorithm, sessionKey.cipher) - HEADER
  target[at + HEADER] = VERSION
  target.set(fingerprint.subarray(12), at + HEADER + 1)
  target[at + HEADER + START - 1] = algorithm
  let next = at + HEADER + START
  if (!isPlain) {
    target.set(POINT_START, next)
    next += POINT_START.length
  }
  target.set(ephemeral.point, next)
  next += POINT
  target[next++] = isPlain ? wrapped.length + 1 : wrapped.length
  if (isPlain) target[next++] = sessionKey.cipher
  target.set(wrapped, next)
}
