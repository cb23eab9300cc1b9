/** Public keys on Curve25519 from their 32 bytes, by node:crypto. */
import { createPublicKey, type KeyObject } from 'node:crypto'
import { bufferOf } from '../bytes.ts'

/** Takes a point; any 32 bytes are one. Takes some ten microseconds. */
export function rawPublicKey(point: Uint8Array, algorithm: 'x25519' | 'ed25519'): KeyObject {
  const key = bufferOf(point)
  return withoutTraces(() =>
    createPublicKey({ key, format: 'raw-public', asymmetricKeyType: algorithm }),
  )
}

/**
 * node:crypto finds out what it was given by trying, and catches what that throws: most of the time
 * would go into traces of errors that nobody ever sees.
 */
function withoutTraces<T>(work: () => T): T {
  const { stackTraceLimit } = Error
  // Unlike an assignment, this throws nothing where the limit is frozen.
  Reflect.set(Error, 'stackTraceLimit', 0)
  try {
    return work()
  } finally {
    Reflect.set(Error, 'stackTraceLimit', stackTraceLimit)
  }
}
