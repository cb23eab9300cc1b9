/** Parsed keys, kept by their exact text or bytes, so that each is parsed once a thread. */
import { hash } from 'node:crypto'
import { readKey, readPrivateKey } from 'openpgp'
import type { PrivateKey, PublicKey, SignaturePacket } from 'openpgp'
import { countedCache } from '../../util/caches.ts'
import type { UnlockedKey } from '../engine.ts'
import { dearmor } from '../format/armor.ts'

/** The library has these, its types do not. */
export type WholePublicKey = PublicKey & { directSignatures: SignaturePacket[] }
export type WholeSecretKey = PrivateKey & {
  getDecryptionKeys(keyId: undefined, date: null): Promise<PrivateKey[]>
}

/** A parsed certificate occupies about 12 KB. */
const CERTIFICATES = 2000

const certificates = countedCache<string, PublicKey>(CERTIFICATES)
const secretKeys = new Map<string, PrivateKey>()

/** Gives the certificate of an armored text; those that were not asked for lately are dropped at the bound. */
export async function certificateOf(armored: string): Promise<PublicKey> {
  const kept = certificates.get(armored)
  if (kept !== undefined) return kept
  // openpgp.js reads less armor, and some otherwise
  const binaryKey = dearmor(armored, 'PUBLIC KEY BLOCK')
  const key = binaryKey && (await readKey({ binaryKey }))
  if (key === null || key.isPrivate()) {
    throw new Error('unreadable armor or a secret key is no certificate')
  }
  certificates.set(armored, key)
  return key
}

/** Gives the secret key of an unlocked one. There are few, and they live as long as the thread. */
export async function secretKeyOf(key: UnlockedKey): Promise<PrivateKey> {
  const name = hash('sha256', key.bytes)
  const kept = secretKeys.get(name)
  if (kept !== undefined) return kept
  const parsed = await readPrivateKey({ binaryKey: key.bytes })
  secretKeys.set(name, parsed)
  return parsed
}
