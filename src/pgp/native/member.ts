/** Recipients as octets: what sealing to each needs, one after the other. */
import { ALGORITHM, fingerprintOf, type SealingKey } from './curve-key.ts'
import type { Agreeing } from './key-agreement.ts'

/** Algorithm, fingerprint, point. */
export const MEMBER_BYTES = 1 + 20 + 32
const POINT_AT = 21

/** Puts keys one after the other, in memory that threads can be let see. */
export function writeMembers(keys: readonly SealingKey[]): Buffer {
  const members = Buffer.from(new SharedArrayBuffer(keys.length * MEMBER_BYTES))
  for (const [index, key] of keys.entries()) {
    const at = index * MEMBER_BYTES
    members[at] = key.algorithm
    members.set(fingerprintOf(key), at + 1)
    members.set(key.point, at + POINT_AT)
  }
  return members
}

/** Gives one again. @throws Error for an algorithm that is not sealed to here */
export function memberAt(members: Uint8Array, at: number): Agreeing {
  return {
    algorithm: algorithmAt(members, at),
    fingerprint: members.subarray(at + 1, at + POINT_AT),
    point: members.subarray(at + POINT_AT, at + MEMBER_BYTES),
  }
}

/** The algorithm of one alone. @throws as `memberAt` */
export function algorithmAt(members: Uint8Array, at: number): Agreeing['algorithm'] {
  const algorithm = members[at]
  if (algorithm !== ALGORITHM.ecdh && algorithm !== ALGORITHM.x25519) throw new Error('algorithm')
  return algorithm
}
