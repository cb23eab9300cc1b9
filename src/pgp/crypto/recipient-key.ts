/** Recipients' keys as bytes, one after the other, in memory that threads can be let see. */
import type { RecipientKey, RecipientPoint } from './algorithm.ts'
import { RECIPIENT_POINT_BYTES, recipientAlgorithm } from './algorithms.ts'
import { fingerprintOf } from './public-key.ts'

const POINT_AT = 5
/** Algorithm, date of creation, point; zeros after a shorter one. */
export const RECIPIENT_KEY_BYTES = POINT_AT + RECIPIENT_POINT_BYTES

/** Puts keys one after the other. */
export function packRecipientKeys(keys: readonly RecipientKey[]): Buffer {
  const packed = Buffer.from(new SharedArrayBuffer(keys.length * RECIPIENT_KEY_BYTES))
  let at = 0
  for (const { algorithm, createdS, point } of keys) {
    packed[at] = algorithm
    packed.writeUInt32BE(createdS, at + 1)
    packed.set(point, at + POINT_AT)
    at += RECIPIENT_KEY_BYTES
  }
  return packed
}

/** Gives one again. @throws Error for an algorithm that is not sealed to natively */
export function unpackRecipientKey(packed: Buffer, at: number): RecipientPoint {
  const { id: algorithm, publicBytes } = recipientAlgorithm(packed[at] ?? 0)
  const createdS = packed.readUInt32BE(at + 1)
  const point = packed.subarray(at + POINT_AT, at + POINT_AT + publicBytes)
  return { algorithm, point, fingerprint: fingerprintOf({ algorithm, createdS, point }) }
}

/** The algorithm of one alone. @throws as `unpackRecipientKey` */
export function recipientAlgorithmAt(packed: Uint8Array, at: number): RecipientPoint['algorithm'] {
  return recipientAlgorithm(packed[at] ?? 0).id
}
