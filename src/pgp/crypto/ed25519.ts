/** Ed25519 over a digest, as OpenPGP signs (RFC 8032; RFC 9580, 5.2.3.3), by node:crypto. */
import { createPrivateKey, sign, verify, type KeyObject } from 'node:crypto'
import { rawPublicKey } from './raw-key.ts'

const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

/** A signature with the key that is to have made it. */
export interface Statement {
  digest: Uint8Array
  /** Of the key, 32 bytes. */
  point: Uint8Array
  /** 64 bytes. */
  numbers: Uint8Array
}

/** Takes the 32 bytes of a secret seed. */
export function ed25519Secret(seed: Uint8Array): KeyObject {
  const der = Buffer.concat([PKCS8, seed])
  const secret = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  der.fill(0)
  return secret
}

/** Gives the 64 bytes of a signature over a digest; takes some 40 microseconds. */
export function signDigest(secret: KeyObject, digest: Uint8Array): Buffer {
  return sign(null, digest, secret)
}

/** Whether a signature is the key's; takes some 120 microseconds. */
export function holds({ digest, point, numbers }: Statement): boolean {
  return verify(null, digest, publicKey(point), numbers)
}

/** The same, on libuv's pool. */
export function holdsAside(
  { digest, point, numbers }: Statement,
  done: (error: Error | null, holds: boolean) => void,
): void {
  verify(null, digest, publicKey(point), numbers, done)
}

/** Public keys as they were read, for as long as the points themselves are held. */
const read = new WeakMap<Uint8Array, KeyObject>()

function publicKey(point: Uint8Array): KeyObject {
  const kept = read.get(point)
  if (kept !== undefined) return kept
  const key = rawPublicKey(point, 'ed25519')
  read.set(point, key)
  return key
}
