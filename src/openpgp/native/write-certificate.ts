/**
 * Writes the certificate of a key whose secrets a device has: it signs what certifies them
 * (RFC 9580, 10.1.1). Its form is that of `Engine.generate`.
 */
import { createHash } from 'node:crypto'
import { ALGORITHM } from '../crypto/algorithm.ts'
import type { RecipientKey, SignatureAlgorithm, SigningKey } from '../crypto/algorithm.ts'
import { EDDSA_LEGACY } from '../crypto/ed25519.ts'
import { fingerprintOf, publicKeyBody } from '../crypto/public-key.ts'
import { armorBlock } from '../format/armor-writer.ts'
import {
  bytesOf,
  framePacket,
  keyOver,
  subpacket,
  subpacketArea,
  SUBPACKET,
  trailerOf,
  userIdOver,
  VERSION_4,
} from '../format/packet-writer.ts'
import { TAG } from '../format/packets.ts'

/** Signs a digest with a primary key of Ed25519, which its certificate has as EdDSA. */
export interface CertificateSigner {
  /** 20 bytes. */
  fingerprint: Uint8Array
  /** @returns 64 bytes */
  sign(digest: Uint8Array): Promise<Uint8Array>
  /** EdDSA when absent. */
  algorithm?: SignatureAlgorithm
}

/** Types of signatures (RFC 9580, 5.2.1). */
const TYPE = { certification: 0x13, subkeyBinding: 0x18 }
const SHA512 = 10
/** Subpackets that only certificates have, by number (RFC 9580, 5.2.3.7). */
const PREFERRED = { hashes: 21, compression: 22, features: 30 }
const CERTIFIES_AND_SIGNS = 0x03
const ENCRYPTS = 0x0c
/** AES-256 and AES-128; SHA-512 and SHA-256; no compression; integrity protection, version 1. */
const PREFERENCES = [
  subpacket(SUBPACKET.preferredCiphers, [Buffer.of(9, 7)]),
  subpacket(PREFERRED.hashes, [Buffer.of(10, 8)]),
  subpacket(PREFERRED.compression, [Buffer.of(0)]),
  subpacket(PREFERRED.features, [Buffer.of(1)]),
]

/** The two keys of a new certificate, in the encodings that every OpenPGP program reads. */
export function newKeys(o: { signing: Uint8Array; decrypting: Uint8Array; createdMs: number }) {
  const createdS = Math.floor(o.createdMs / 1000)
  const primary: SigningKey = { algorithm: ALGORITHM.eddsaLegacy, createdS, point: o.signing }
  const subkey: RecipientKey = { algorithm: ALGORITHM.ecdh, createdS, point: o.decrypting }
  return { primary, subkey, fingerprint: fingerprintOf(primary) }
}

interface NewCertificate {
  keys: ReturnType<typeof newKeys>
  userId: string
  /** Signs with the primary key. */
  sign: CertificateSigner['sign']
  /** The bot's key before it, which vouches for it in a certification. */
  certifiedBy?: CertificateSigner | undefined
}

/** @returns armored @throws the error of a signer */
export const writeCertificate = async (o: NewCertificate): Promise<string> =>
  armoredCertificate(await certificateParts(o))

export type CertificateParts = Awaited<ReturnType<typeof certificateParts>>

export const armoredCertificate = (parts: CertificateParts): string =>
  armorBlock('PUBLIC KEY BLOCK', transferable(parts, [TAG.publicKey, TAG.publicSubkey]))

/** @param tags of the primary key and the subkey, whose bodies `parts` has, public or secret */
export function transferable(
  { primary, subkey }: CertificateParts,
  [tag, subkeyTag]: readonly [number, number],
): Buffer {
  const [first, second] = [framePacket(tag, primary.key), framePacket(subkeyTag, subkey.key)]
  return Buffer.concat([first, ...primary.signed, second, ...subkey.signed])
}

/**
 * What a certificate, and the secret key to it, is made of: the body of each public key, and the
 * packets behind it.
 * @throws the error of a signer
 */
export async function certificateParts(o: NewCertificate) {
  const { primary, subkey, fingerprint } = o.keys
  const [primaryBody, subkeyBody] = [publicKeyBody(primary), publicKeyBody(subkey)]
  const userId = Buffer.from(o.userId)
  const certified = Buffer.concat([keyOver(primaryBody), userIdOver(userId)])
  const bound = Buffer.concat([keyOver(primaryBody), keyOver(subkeyBody)])
  const own = { fingerprint, sign: o.sign }
  const { createdS } = primary
  const flags = (bits: number): Buffer => subpacket(SUBPACKET.keyFlags, [Buffer.of(bits)])
  const certification = { type: TYPE.certification, over: certified, createdS }
  const binding = { type: TYPE.subkeyBinding, over: bound, createdS }
  const certifications = [
    await writeSignature(own, certification, [flags(CERTIFIES_AND_SIGNS), ...PREFERENCES]),
    ...(o.certifiedBy === undefined
      ? []
      : [await writeSignature(o.certifiedBy, certification, [])]),
  ]
  return {
    primary: { key: primaryBody, signed: [framePacket(TAG.userId, userId), ...certifications] },
    subkey: { key: subkeyBody, signed: [await writeSignature(own, binding, [flags(ENCRYPTS)])] },
  }
}

/** A signature packet of version 4 (RFC 9580, 5.2.3). */
export async function writeSignature(
  by: CertificateSigner,
  { type, over, createdS }: { type: number; over: Uint8Array; createdS: number },
  subpackets: readonly Buffer[],
): Promise<Buffer> {
  const hashed = subpacketArea([
    subpacket(SUBPACKET.created, [bytesOf(createdS, 4)]),
    ...subpackets,
    subpacket(SUBPACKET.issuerFingerprint, [VERSION_4, by.fingerprint]),
  ])
  const { algorithm = EDDSA_LEGACY } = by
  const hashedPart = Buffer.concat([Buffer.of(4, type, algorithm.id, SHA512), hashed])
  const hash = createHash('sha512').update(over).update(hashedPart)
  const digest = hash.update(trailerOf(hashedPart)).digest()
  const numbers = algorithm.writeSignature(Buffer.from(await by.sign(digest)))
  const unhashed = subpacketArea([subpacket(SUBPACKET.issuer, [by.fingerprint.subarray(12)])])
  const body = Buffer.concat([hashedPart, unhashed, digest.subarray(0, 2), numbers])
  return framePacket(TAG.signature, body)
}
