/** The bot's own secret keys: made, locked, unlocked. */
import { decryptKey, generateKey, readPrivateKey, type PrivateKey } from 'openpgp'
import type { OwnKey, UnlockedKey } from './engine.ts'

/**
 * Makes a v4 key in the encodings that every OpenPGP program reads: Ed25519 primary that
 * certifies and signs, Curve25519 subkey that encrypts, no expiry (RFC 9580, 9.2.1).
 */
export async function generate(options: {
  userId: string
  createdMs: number
  passphrase: string
}): Promise<OwnKey> {
  const { privateKey, publicKey } = await generateKey({
    type: 'ecc',
    curve: 'curve25519Legacy',
    userIDs: [{ name: options.userId }],
    date: new Date(options.createdMs),
    passphrase: options.passphrase,
    format: 'object',
  })
  return {
    fingerprint: privateKey.getFingerprint(),
    certificate: publicKey.armor(),
    locked: privateKey.armor(),
  }
}

/** @throws Error `wrong-passphrase`, or what the library says of a block that is no v4 secret key */
export async function unlock(locked: string, passphrase: string): Promise<UnlockedKey> {
  const privateKey = await readPrivateKey({ armoredKey: locked })
  if (privateKey.keyPacket.version !== 4) throw new Error('not a version 4 key')
  const unlocked = await unlockWith(privateKey, passphrase)
  const packets = unlocked.getKeys().map((key) => key.keyPacket)
  return {
    fingerprint: unlocked.getFingerprint(),
    keyIds: packets.map((packet) => packet.getKeyID().toHex()),
    fingerprints: packets.map((packet) => packet.getFingerprint()),
    bytes: unlocked.write(),
  }
}

async function unlockWith(privateKey: PrivateKey, passphrase: string): Promise<PrivateKey> {
  if (privateKey.isDecrypted()) return privateKey
  try {
    return await decryptKey({ privateKey, passphrase })
  } catch {
    throw new Error('wrong-passphrase')
  }
}
