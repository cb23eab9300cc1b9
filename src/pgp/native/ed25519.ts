/** Ed25519 over a digest, as OpenPGP signs (RFC 8032; RFC 9580, 5.2.3.3), by node:crypto. */
import { createPrivateKey, sign, verify, type KeyObject } from 'node:crypto'

const PEM_START = '-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA'
const PEM_END = '\n-----END PUBLIC KEY-----\n'
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

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

/**
 * Whether a signature over a digest is a key's; on libuv's pool.
 * @param signed `point` of 32 octets, `numbers` of 64
 */
export function digestHolds(
  digest: Uint8Array,
  { point, numbers }: { point: Uint8Array; numbers: Uint8Array },
): Promise<boolean> {
  const { buffer, byteOffset, length } = point
  const pem = PEM_START + Buffer.from(buffer, byteOffset, length).toString('base64') + PEM_END
  return new Promise((resolve, reject) => {
    verify(null, digest, pem, numbers, (error, holds) => {
      if (error !== null) reject(error)
      else resolve(holds)
    })
  })
}
