/** Recipients as bytes: what sealing to each needs, one after the other. */
import { ALGORITHM, fingerprintOf, type SealingKey } from './public-key.ts'
import type { Agreeing } from './key-agreement.ts'

/** Algorithm, date of creation, point. */
export const MEMBER_BYTES = 1 + 4 + 32
const POINT_AT = 5

/** Puts keys one after the other, in memory that threads can be let see. */
export function writeMembers(keys: readonly SealingKey[]): Buffer {
  const members = Buffer.from(new SharedArrayBuffer(keys.length * MEMBER_BYTES))
  let at = 0
  for (const { algorithm, createdS, point } of keys) {
    members[at] = algorithm
    members.writeUInt32BE(createdS, at + 1)
    members.set(point, at + POINT_AT)
    at += MEMBER_BYTES
  }
  return members
}

/** Gives one again. @throws Error for an algorithm that is not sealed to here */
export function memberAt(members: Buffer, at: number): Agreeing {
  const algorithm = algorithmAt(members, at)
  const createdS = members.readUInt32BE(at + 1)
  const point = members.subarray(at + POINT_AT, at + MEMBER_BYTES)
  return { algorithm, point, fingerprint: fingerprintOf({ algorithm, createdS, point }) }
}

/** The algorithm of one alone. @throws as `memberAt` */
export function algorithmAt(members: Uint8Array, at: number): Agreeing['algorithm'] {
  const algorithm = members[at]
  if (algorithm !== ALGORITHM.ecdh && algorithm !== ALGORITHM.x25519) throw new Error('algorithm')
  return algorithm
}
