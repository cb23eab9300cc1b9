/** The bot's own secret keys: made, locked, unlocked. */
import {
  config,
  decryptKey,
  encryptKey,
  enums,
  generateKey,
  readKey,
  readPrivateKey,
  PrivateKey,
  SignaturePacket,
} from 'openpgp'
import type { AnyKeyPacket, AnySecretKeyPacket, Key } from 'openpgp'
import type { Engine, OwnKey, UnlockedKey } from '../engine.ts'
import { ownBytes } from '../size.ts'
import { makeComposite } from './composite.ts'

/**
 * Makes a v4 key in the encodings that every OpenPGP program reads: Ed25519 primary that
 * certifies and signs, Curve25519 subkey that encrypts, no expiry (RFC 9580, 9.2.1).
 * `certifiedBy` is the key before it, which then vouches for it in its certificate.
 */
export async function generate(options: Parameters<Engine['generate']>[0]): Promise<OwnKey> {
  const date = new Date(options.createdMs)
  const { privateKey: made } = await generateKey({
    type: 'ecc',
    curve: 'curve25519Legacy',
    userIDs: [{ name: options.userId }],
    date,
    format: 'object',
  })
  await state(made, date)
  const privateKey = options.algorithm === 'pqc' ? await withComposite(made, date) : made
  if (options.certifiedBy !== undefined) await certify(privateKey, options.certifiedBy)
  return {
    fingerprint: privateKey.getFingerprint(),
    certificate: privateKey.toPublic().armor(),
    locked: await lock(privateKey, { ...options, to: options.passphrase }),
  }
}

/**
 * Preferences that every program reads: PGPy loads no certificate with the hashes of SHA-3 that the
 * library lists, and GnuPG 2.2 warns of them.
 */
const PREFERENCES = {
  preferredSymmetricAlgorithms: [enums.symmetric.aes256, enums.symmetric.aes128],
  preferredHashAlgorithms: [enums.hash.sha512, enums.hash.sha256],
  preferredCompressionAlgorithms: [enums.compression.uncompressed],
  features: Uint8Array.of(1),
}

/** Replaces the library's self-signatures on the user ids of a new key. */
async function state(made: PrivateKey, date: Date): Promise<void> {
  const { certifyKeys, signData } = enums.keyFlags
  const key = made.keyPacket
  const stated = { ...PREFERENCES, keyFlags: Uint8Array.of(certifyKeys | signData) }
  for (const user of made.users) {
    const over = { userID: user.userID, key }
    user.selfCertifications = [
      await signed(enums.signature.certPositive, over, { by: key, date, ...stated }),
    ]
  }
}

/** The key with one more subkey, of ML-KEM-768+X25519, bound by its primary key. */
export async function withComposite(privateKey: PrivateKey, date: Date): Promise<PrivateKey> {
  const bind = await makeComposite(date)
  const key = privateKey.keyPacket as AnySecretKeyPacket
  const { encryptCommunication, encryptStorage } = enums.keyFlags
  const binding = await signed(
    enums.signature.subkeyBinding,
    { key, bind },
    { by: key, date, keyFlags: Uint8Array.of(encryptCommunication | encryptStorage) },
  )
  const packets = privateKey.toPacketList()
  packets.push(bind, binding)
  return new PrivateKey(packets)
}

/**
 * Puts a certification of every user id by another key's primary onto a key (RFC 9580, 5.2.1.4):
 * people with trust in the old key see that its holder made the new one. By hand, because the
 * library certifies with a signing subkey where there is one, which means nothing to a verifier.
 */
export async function certify(key: Key, certifier: UnlockedKey): Promise<void> {
  const { keyPacket } = await readPrivateKey({ binaryKey: certifier.bytes })
  const { created } = keyPacket
  const date = new Date(Math.max(key.getCreationTime().getTime(), created.getTime()))
  for (const user of key.users) {
    const over = { userID: user.userID, key: key.keyPacket }
    const signature = await signed(enums.signature.certPositive, over, { by: keyPacket, date })
    user.otherCertifications.push(signature)
  }
}

/** The same for an armored certificate, whose secret is elsewhere. */
export async function certifyCertificate(armored: string, certifier: UnlockedKey): Promise<string> {
  const key = await readKey({ armoredKey: armored })
  await certify(key, certifier)
  return key.armor()
}

/** A signature by a key; the library's types omit how it is made. */
async function signed(
  type: enums.signature,
  over: object,
  { by, date, ...stated }: { by: AnyKeyPacket; date: Date } & Partial<SignaturePacket>,
): Promise<SignaturePacket> {
  const signature = new SignaturePacket()
  const { algorithm: publicKeyAlgorithm } = by
  const hashAlgorithm = enums.hash.sha512
  Object.assign(signature, { signatureType: type, publicKeyAlgorithm, hashAlgorithm, ...stated })
  const signing = signature as unknown as { sign(...given: unknown[]): Promise<void> }
  await signing.sign(by, over, date, false, config)
  return signature
}

/** @throws Error `wrong-passphrase`, or the library's for a block that is no v4 secret key */
export async function unlock(locked: string, passphrase: string): Promise<UnlockedKey> {
  const privateKey = await readPrivateKey({ armoredKey: locked })
  if (privateKey.keyPacket.version !== 4) throw new Error('not a version 4 key')
  return unlockedFrom(await unlockWith(privateKey, passphrase))
}

/** A key as the engine uses it. */
export function unlockedFrom(unlocked: PrivateKey): UnlockedKey {
  const packets = unlocked.getKeys().map((key) => key.keyPacket)
  return {
    fingerprint: unlocked.getFingerprint(),
    keyIds: packets.map((packet) => packet.getKeyID().toHex()),
    fingerprints: packets.map((packet) => packet.getFingerprint()),
    bytes: unlocked.write(),
    sizes: ownBytes(unlocked.getKeys().map((key) => key.getAlgorithmInfo())),
  }
}

/**
 * Locks a key under another passphrase.
 * @returns the armored key, after it was seen to open
 * @throws Error `wrong-passphrase`, or the error of `unlock`
 */
export const relock: Engine['relock'] = async (locked, o) => {
  const privateKey = await unlockWith(await readPrivateKey({ armoredKey: locked }), o.from)
  const anew = await lock(privateKey, o)
  const { fingerprint } = await unlock(anew, o.to)
  if (fingerprint !== privateKey.getFingerprint()) throw new Error('another key')
  return anew
}

/**
 * Locks a key by the profile's slow hash, or, under 256 random bits, by the shortest, of 1024 bytes
 * (RFC 9580, 3.7.1.3). @returns the armored key
 */
export async function lock(
  privateKey: PrivateKey,
  o: { to: string; isRandom?: boolean | undefined },
): Promise<string> {
  const slowness = o.isRandom === true ? { s2kIterationCountByte: 0 } : {}
  const locked = await encryptKey({ privateKey, passphrase: o.to, config: slowness })
  return locked.armor()
}

async function unlockWith(privateKey: PrivateKey, passphrase: string): Promise<PrivateKey> {
  // Postern always locks: a key that is not locked was written by somebody without our secrets.
  if (privateKey.isDecrypted()) throw new Error('not-locked')
  return await decryptKey({ privateKey, passphrase }).catch(() => {
    throw new Error('wrong-passphrase')
  })
}
