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
import { ALGORITHM, EDDSA_LEGACY, fingerprintOf, publicKeyBody } from '../../openpgp/key-forms.ts'

const POSITIVE_CERTIFICATION = 0x13
const SUBKEY_BINDING = 0x18
const SHA512 = 10
/** Certify and sign; encrypt communications and storage (RFC 9580, 5.2.3.29). */
const FLAGS = { primary: 0x03, subkey: 0x0c } as const
/** Of the library's keys: hashes, compressions, the primary user id, features (RFC 9580, 5.2.3.7). */
const PREFERENCES: [kind: number, bytes: number[]][] = [
  [SUBPACKET.preferredCiphers, [9, 7]],
  [21, [10, 8]],
  [22, [0]],
  [25, [1]],
  [30, [1]],
]

interface KeyPair {
  secret: KeyObject
  point: Buffer
  /** 32 bytes: a seed, or a scalar, little-endian. */
  secretBytes: Buffer
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
  const [signing, encrypting] = [makePair('ed25519'), makePair('x25519')]
  const primary = { algorithm: ALGORITHM.eddsaLegacy, createdS, point: signing.point } as const
  const subkey = { algorithm: ALGORITHM.ecdh, createdS, point: encrypting.point } as const
  const [body, subkeyBody] = [publicKeyBody(primary), publicKeyBody(subkey)]
  const userId = Buffer.from(o.userId, 'utf8')
  const signer = { secret: signing.secret, fingerprint: fingerprintOf(primary), createdS }
  const certification = sign(signer, {
    type: POSITIVE_CERTIFICATION,
    over: [keyOver(body), Buffer.of(0xb4), bigEndian(userId.length, 4), userId],
    subpackets: [[SUBPACKET.keyFlags, [FLAGS.primary]], ...PREFERENCES],
  })
  const binding = sign(signer, {
    type: SUBKEY_BINDING,
    over: [keyOver(body), keyOver(subkeyBody)],
    subpackets: [[SUBPACKET.keyFlags, [FLAGS.subkey]]],
  })
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

function makePair(type: 'ed25519' | 'x25519'): KeyPair {
  const { privateKey, publicKey } =
    type === 'ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('x25519')
  const { d = '' } = privateKey.export({ format: 'jwk' })
  return {
    secret: privateKey,
    point: publicKey.export({ format: 'raw-public' }),
    secretBytes: Buffer.from(d, 'base64url'),
  }
}

/** A self-signature's packet body, version 4 (RFC 9580, 5.2.3 and 5.2.4). */
function sign(
  { secret, fingerprint, createdS }: { secret: KeyObject; fingerprint: Buffer; createdS: number },
  o: { type: number; over: Buffer[]; subpackets: [kind: number, bytes: number[]][] },
): Buffer {
  const hashed = Buffer.concat([
    subpacket(SUBPACKET.created, [bigEndian(createdS, 4)]),
    ...o.subpackets.map(([kind, bytes]) => subpacket(kind, [Buffer.from(bytes)])),
    subpacket(SUBPACKET.issuerFingerprint, [Buffer.of(4), fingerprint]),
  ])
  const unhashed = subpacket(SUBPACKET.issuer, [fingerprint.subarray(12)])
  const start = Buffer.from([4, o.type, ALGORITHM.eddsaLegacy, SHA512])
  const hashedPart = Buffer.concat([start, ofLength(hashed)])
  const trailer = [Buffer.of(4, 0xff), bigEndian(hashedPart.length, 4)]
  const digest = hash('sha512', Buffer.concat([...o.over, hashedPart, ...trailer]), 'buffer')
  const numbers = EDDSA_LEGACY.writeSignature(EDDSA_LEGACY.sign(secret, digest))
  return Buffer.concat([hashedPart, ofLength(unhashed), digest.subarray(0, 2), numbers])
}

/** Subpackets behind their length. */
function ofLength(subpackets: Buffer): Buffer {
  return Buffer.concat([bigEndian(subpackets.length, 2), subpackets])
}

function bigEndian(value: number, bytes: 2 | 4): Buffer {
  const written = Buffer.alloc(bytes)
  written.writeUIntBE(value, 0, bytes)
  return written
}

/** A secret key packet's body without a lock: the secret and its checksum (RFC 9580, 5.5.3). */
function secretBody(body: Buffer, secret: Uint8Array): Buffer {
  const number = writeMpi(secret)
  const checksum = number.reduce((sum, byte) => (sum + byte) & 0xffff, 0)
  return Buffer.concat([body, Buffer.alloc(1), number, bigEndian(checksum, 2)])
}

/** A scalar of Curve25519 as programs expect it to be stored (RFC 7748, 5). */
function clamped(scalar: Buffer): Uint8Array {
  const bytes = new Uint8Array(scalar)
  bytes[0] = (bytes[0] ?? 0) & 0xf8
  bytes[31] = ((bytes[31] ?? 0) & 0x7f) | 0x40
  return bytes
}
