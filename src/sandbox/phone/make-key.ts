/**
 * Makes unlocked keys of the common shape, for phones that a sidecar is tried with: as the library
 * makes the bot's own key, but in less than a millisecond and without a thread.
 */
import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { AS_MADE, TAG, writeMpi, type UnlockedKey } from '../../openpgp/index.ts'
import * as forms from '../../openpgp/key-forms.ts'

/**
 * Makes a key: Ed25519 primary, Curve25519 subkey, legacy encodings, without a passphrase.
 * @param o `userId` a free name; `createdMs` its date
 * @returns also its armored certificate
 */
export async function makeCommonKey(o: {
  userId: string
  createdMs: number
}): Promise<{ certificate: string; key: UnlockedKey }> {
  const signing = pairOf(generateKeyPairSync('ed25519'))
  const encrypting = pairOf(generateKeyPairSync('x25519'))
  const keys = forms.newKeys({ ...o, signing: signing.point, decrypting: encrypting.point })
  const parts = await forms.certificateParts({
    keys,
    userId: o.userId,
    sign: async (digest) => sign(null, digest, signing.secret),
  })
  const { primary, subkey } = parts
  const scalar = clamped(encrypting.secretBytes).toReversed()
  const secret = {
    primary: { ...primary, key: secretBody(primary.key, signing.secretBytes) },
    subkey: { ...subkey, key: secretBody(subkey.key, scalar) },
  }
  const fingerprint = keys.fingerprint.toString('hex')
  const fingerprints = [fingerprint, forms.fingerprintOf(keys.subkey).toString('hex')]
  return {
    certificate: forms.armoredCertificate(parts),
    key: {
      fingerprint,
      keyIds: fingerprints.map((one) => one.slice(24)),
      fingerprints,
      bytes: forms.transferable(secret, [TAG.secretKey, TAG.secretSubkey]),
      sizes: AS_MADE,
    },
  }
}

/** `secretBytes` are 32: a seed, or a scalar, little-endian. */
const pairOf = ({ privateKey, publicKey }: Record<'privateKey' | 'publicKey', KeyObject>) => ({
  secret: privateKey,
  point: publicKey.export({ format: 'raw-public' }),
  secretBytes: privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32),
})

/** A secret key packet's body without a lock: the secret and its checksum (RFC 9580, 5.5.3). */
function secretBody(body: Buffer, secret: Uint8Array): Buffer {
  const number = writeMpi(secret)
  const sum = forms.checksum(number)
  return Buffer.concat([body, Buffer.alloc(1), number, Buffer.of(sum >> 8, sum & 0xff)])
}

/** A scalar of Curve25519 as programs expect it to be stored (RFC 7748, 5). */
function clamped(scalar: Buffer): Uint8Array {
  const bytes = new Uint8Array(scalar)
  bytes[0] = (bytes[0] ?? 0) & 0xf8
  bytes[31] = ((bytes[31] ?? 0) & 0x7f) | 0x40
  return bytes
}
