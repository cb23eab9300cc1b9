/**
 * Makes unlocked keys of the common shape, for phones that a sidecar is tried with: as the library
 * makes the bot's own key, but in less than a millisecond and without a thread.
 */
import { generateKeyPairSync, hash, type KeyObject } from 'node:crypto'
import {
  AS_MADE,
  SUBPACKET,
  TAG,
  armorBlock,
  framePacket,
  keyOver,
  subpacket,
  writeMpi,
  type UnlockedKey,
} from '../../openpgp/index.ts'
import {
  ALGORITHM,
  EDDSA_LEGACY,
  checksum,
  fingerprintOf,
  publicKeyBody,
  trailerOf,
} from '../../openpgp/key-forms.ts'

/** Certification of a user id, binding of a subkey; in version 4, by EdDSA and SHA-512. */
const START = {
  primary: [4, 0x13, ALGORITHM.eddsaLegacy, 10],
  subkey: [4, 0x18, ALGORITHM.eddsaLegacy, 10],
} as const
/**
 * Subpackets (RFC 9580, 5.2.3.7), as the library writes them. Flags: certify and sign; encrypt
 * communications and storage. Then preferred hashes and compressions, primary user id, features.
 */
const SUBPACKETS: Record<'primary' | 'subkey', [kind: number, bytes: number[]][]> = {
  primary: [
    [SUBPACKET.keyFlags, [0x03]],
    [SUBPACKET.preferredCiphers, [9, 7]],
    [21, [10, 8]],
    [22, [0]],
    [25, [1]],
    [30, [1]],
  ],
  subkey: [[SUBPACKET.keyFlags, [0x0c]]],
}

/**
 * Makes a key: Ed25519 primary, Curve25519 subkey, legacy encodings, without a passphrase.
 * @param o `userId` a free name; `createdMs` its date
 * @returns also its armored certificate
 */
export function makeCommonKey(o: { userId: string; createdMs: number }): {
  certificate: string
  key: UnlockedKey
} {
  const createdS = Math.floor(o.createdMs / 1000)
  const [signing, encrypting] = [
    pairOf(generateKeyPairSync('ed25519')),
    pairOf(generateKeyPairSync('x25519')),
  ]
  const primary = { algorithm: ALGORITHM.eddsaLegacy, createdS, point: signing.point } as const
  const subkey = { algorithm: ALGORITHM.ecdh, createdS, point: encrypting.point } as const
  const [body, subkeyBody] = [publicKeyBody(primary), publicKeyBody(subkey)]
  const userId = Buffer.from(o.userId, 'utf8')
  const signer = { secret: signing.secret, fingerprint: fingerprintOf(primary), createdS }
  const named = [Buffer.of(0xb4), bigEndian(userId.length, 4), userId]
  const certification = sign(signer, 'primary', [keyOver(body), ...named])
  const binding = sign(signer, 'subkey', [keyOver(body), keyOver(subkeyBody)])
  const transferable = (keyTag: number, key: Buffer, subkeyTag: number, sub: Buffer): Buffer =>
    Buffer.concat([
      framePacket(keyTag, key),
      framePacket(TAG.userId, userId),
      framePacket(TAG.signature, certification),
      framePacket(subkeyTag, sub),
      framePacket(TAG.signature, binding),
    ])
  const scalar = clamped(encrypting.secretBytes).toReversed()
  const secrets = [secretBody(body, signing.secretBytes), secretBody(subkeyBody, scalar)] as const
  const fingerprints = [signer.fingerprint, fingerprintOf(subkey)]
  return {
    certificate: armorBlock(
      'PUBLIC KEY BLOCK',
      transferable(TAG.publicKey, body, TAG.publicSubkey, subkeyBody),
    ),
    key: {
      fingerprint: signer.fingerprint.toString('hex'),
      keyIds: fingerprints.map((one) => one.toString('hex', 12)),
      fingerprints: fingerprints.map((one) => one.toString('hex')),
      bytes: transferable(TAG.secretKey, secrets[0], TAG.secretSubkey, secrets[1]),
      sizes: AS_MADE,
    },
  }
}

/** `secretBytes` are 32: a seed, or a scalar, little-endian. */
function pairOf({ privateKey, publicKey }: Record<'privateKey' | 'publicKey', KeyObject>) {
  return {
    secret: privateKey,
    point: publicKey.export({ format: 'raw-public' }),
    secretBytes: privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32),
  }
}

/** A self-signature's packet body, version 4 (RFC 9580, 5.2.3 and 5.2.4). */
function sign(
  { secret, fingerprint, createdS }: { secret: KeyObject; fingerprint: Buffer; createdS: number },
  kind: 'primary' | 'subkey',
  over: Buffer[],
): Buffer {
  const hashed = Buffer.concat([
    subpacket(SUBPACKET.created, [bigEndian(createdS, 4)]),
    ...SUBPACKETS[kind].map(([type, bytes]) => subpacket(type, [Buffer.from(bytes)])),
    subpacket(SUBPACKET.issuerFingerprint, [Buffer.of(4), fingerprint]),
  ])
  const unhashed = subpacket(SUBPACKET.issuer, [fingerprint.subarray(12)])
  const hashedPart = Buffer.concat([Buffer.from(START[kind]), bigEndian(hashed.length, 2), hashed])
  const signed = Buffer.concat([...over, hashedPart, trailerOf(hashedPart)])
  const digest = hash('sha512', signed, 'buffer')
  const numbers = EDDSA_LEGACY.writeSignature(EDDSA_LEGACY.sign(secret, digest))
  const left = digest.subarray(0, 2)
  return Buffer.concat([hashedPart, bigEndian(unhashed.length, 2), unhashed, left, numbers])
}

function bigEndian(value: number, bytes: 2 | 4): Buffer {
  const written = Buffer.alloc(bytes)
  written.writeUIntBE(value, 0, bytes)
  return written
}

/** A secret key packet's body without a lock: the secret and its checksum (RFC 9580, 5.5.3). */
function secretBody(body: Buffer, secret: Uint8Array): Buffer {
  const number = writeMpi(secret)
  return Buffer.concat([body, Buffer.alloc(1), number, bigEndian(checksum(number), 2)])
}

/** A scalar of Curve25519 as programs expect it to be stored (RFC 7748, 5). */
function clamped(scalar: Buffer): Uint8Array {
  const bytes = new Uint8Array(scalar)
  bytes[0] = (bytes[0] ?? 0) & 0xf8
  bytes[31] = ((bytes[31] ?? 0) & 0x7f) | 0x40
  return bytes
}
