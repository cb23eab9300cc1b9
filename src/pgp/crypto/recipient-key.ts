/** Recipients as bytes: what sealing to each needs, one after the other. */
import { ALGORITHM, fingerprintOf, type RecipientKey } from './public-key.ts'
import type { Agreeing } from './key-agreement.ts'

/** Algorithm, date of creation, point. */
export const RECIPIENT_KEY_BYTES = 1 + 4 + 32
const POINT_AT = 5

/** Puts keys one after the other, in memory that threads can be let see. */
export function packRecipientKeys(keys: readonly RecipientKey[]): Buffer {
  const recipientKeys = Buffer.from(new SharedArrayBuffer(keys.length * RECIPIENT_KEY_BYTES))
  let at = 0
  for (const { algorithm, createdS, point } of keys) {
    recipientKeys[at] = algorithm
    recipientKeys.writeUInt32BE(createdS, at + 1)
    recipientKeys.set(point, at + POINT_AT)
    at += RECIPIENT_KEY_BYTES
  }
  return recipientKeys
}

/** Gives one again. @throws Error for an algorithm that is not sealed to here */
export function unpackRecipientKey(recipientKeys: Buffer, at: number): Agreeing {
  const algorithm = recipientAlgorithmAt(recipientKeys, at)
  const createdS = recipientKeys.readUInt32BE(at + 1)
  const point = recipientKeys.subarray(at + POINT_AT, at + RECIPIENT_KEY_BYTES)
  return { algorithm, point, fingerprint: fingerprintOf({ algorithm, createdS, point }) }
}

/** The algorithm of one alone. @throws as `unpackRecipientKey` */
export function recipientAlgorithmAt(recipientKeys: Uint8Array, at: number): Agreeing['algorithm'] {
  const algorithm = recipientKeys[at]
  if (algorithm !== ALGORITHM.ecdh && algorithm !== ALGORITHM.x25519) throw new Error('algorithm')
  return algorithm
}
