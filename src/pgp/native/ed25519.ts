/** Ed25519 over a digest, as OpenPGP signs (RFC 8032; RFC 9580, 5.2.3.3), by node:crypto. */
import { createPrivateKey, sign, verify, type KeyObject } from 'node:crypto'
import { rawPublicKey } from './raw-key.ts'
import { RecentMap } from './recent-map.ts'

const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')
/** Public keys that are kept, at some 700 octets each. */
const KEPT = 512

/** A signature with the key that is to have made it. */
export interface Statement {
  digest: Uint8Array
  /** Of the key, 32 octets. */
  point: Uint8Array
  /** 64 octets. */
  numbers: Uint8Array
}

/** Takes the 32 octets of a secret seed. */
export function ed25519Secret(seed: Uint8Array): KeyObject {
  const der = Buffer.concat([PKCS8, seed])
  const secret = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  der.fill(0)
  return secret
}

/** Gives the 64 octets of a signature over a digest; takes some 40 microseconds. */
export function signDigest(secret: KeyObject, digest: Uint8Array): Buffer {
  return sign(null, digest, secret)
}

/** Whether a signature is the key's; takes some 120 microseconds. */
export function holds({ digest, point, numbers }: Statement): boolean {
  return verify(null, digest, publicKey(point), numbers)
}

/** The same, on libuv's pool. */
export function holdsAside({ digest, point, numbers }: Statement): Promise<boolean> {
  return new Promise((resolve, reject) => {
    verify(null, digest, publicKey(point), numbers, (error, result) => {
      if (error !== null) reject(error)
      else resolve(result)
    })
  })
}

/** Public keys as they were read; who writes once writes again. */
const read = new RecentMap<KeyObject>(KEPT)

function publicKey(point: Uint8Array): KeyObject {
  const { buffer, byteOffset, length } = point
  const base64 = Buffer.from(buffer, byteOffset, length).toString('base64')
  const kept = read.get(base64)
  if (kept !== undefined) return kept
  const key = rawPublicKey(point, 'ed25519')
  read.set(base64, key, 1)
  return key
}
