/**
 * Session keys of ML-KEM-768+X25519, which openpgp.js does not have, with the primitives of `crypto`:
 * the library does everything else.
 */
import type { PrivateKey, PublicKey } from 'openpgp'
import { bufferOf } from '../bytes.ts'
import { ALGORITHM } from '../crypto/algorithm.ts'
import { freshPair } from '../crypto/curve25519.ts'
import { fingerprintOf, isRecipientKey, publicKeyOf } from '../crypto/public-key.ts'
import {
  isFor,
  openRecipient,
  readRecipient,
  recipientBytes,
  writeRecipient,
  type RecipientForm,
} from '../crypto/recipient.ts'
import type { SessionKey } from '../crypto/session-key.ts'
import { CIPHER_NAME, isCipher } from '../format/ciphers.ts'
import { packetAt } from '../format/packets.ts'
import type { FoundKey } from '../format/recipient-scan.ts'
import { isComposite, recipientSecretOf } from './composite.ts'
import { encryptionKey, termsOf } from './owner-terms.ts'

/**
 * Recipient packets of version 3 for those of some certificates that have a usable composite subkey.
 * @param o `isAnonymous`: the packets name no key (RFC 9580, 5.1.8)
 * @returns the other certificates too, which the library seals to
 * @throws Error for a subkey that is not sound
 */
export async function packetsForComposites(
  keys: readonly PublicKey[],
  { isAnonymous, ...sessionKey }: SessionKey & { isAnonymous: boolean },
): Promise<{ packets: Uint8Array[]; others: PublicKey[] }> {
  const packets: Uint8Array[] = []
  const others: PublicKey[] = []
  for (const key of keys) {
    const found = encryptionKey(await termsOf(key, Date.now()), Date.now(), () => true)
    const part = typeof found === 'string' ? null : found.part
    const recipientKey = part && isComposite(part) ? publicKeyOf(part.keyPacket.write()) : null
    if (isRecipientKey(recipientKey)) {
      const fingerprint = isAnonymous ? Buffer.alloc(20) : fingerprintOf(recipientKey)
      const target = Buffer.alloc(recipientBytes(recipientKey.algorithm, sessionKey.cipher))
      const to = { recipient: { ...recipientKey, fingerprint }, target, at: 0 }
      writeRecipient({ ...sessionKey, padded: Buffer.alloc(0) }, freshPair(), to)
      packets.push(target)
    } else others.push(key)
  }
  return { packets, others }
}

/** Session keys that a recipient packet, framed, holds for the composite subkeys of a key of ours. */
export async function unwrapComposite(
  packet: Uint8Array,
  { subkeys }: PrivateKey,
): Promise<Pick<FoundKey, 'algorithm' | 'data'>[]> {
  const read = formOf(packetAt(packet, 0).body)
  const found: Pick<FoundKey, 'algorithm' | 'data'>[] = []
  if (read === null) return found
  const { form, namesCipher } = read
  for (const subkey of subkeys.filter(isComposite)) {
    const own = await recipientSecretOf(subkey)
    const opened = own && isFor(form, own) ? openRecipient(form, own) : null
    if (opened === null || !isCipher(opened.cipher)) continue
    found.push({ algorithm: namesCipher ? CIPHER_NAME[opened.cipher] : null, data: opened.data })
  }
  return found
}

/** Version, length, and a version 4 fingerprint with its version, before the algorithm. */
const VERSION_6 = Buffer.of(6, 21, 4)
const VERSION_6_START = 23
const SEALED_BYTES = 32 + 1088
const CIPHER_BY_LENGTH: Readonly<Record<number, number>> = { 24: 7, 32: 8, 40: 9 }

/**
 * Reads the body of a recipient packet, also of version 6, where the container names the cipher
 * (RFC 9580, 5.1.2); as far as our key has a fingerprint of version 4 or is not named.
 */
function formOf(body: Uint8Array): { form: RecipientForm; namesCipher: boolean } | null {
  const bytes = bufferOf(body)
  const isNamed = VERSION_6.equals(bytes.subarray(0, 3))
  if (!isNamed && (bytes[0] !== 6 || bytes[1] !== 0)) {
    const form = readRecipient(body)
    return form?.algorithm === ALGORITHM.mlKem768X25519 ? { form, namesCipher: true } : null
  }
  const start = isNamed ? VERSION_6_START : 2
  const keyId = isNamed ? bytes.subarray(start - 8, start) : Buffer.alloc(8)
  const fields = bytes.subarray(start + 1)
  const wrapped = fields.subarray(SEALED_BYTES + 1)
  const cipher = CIPHER_BY_LENGTH[wrapped.length]
  if (cipher === undefined || fields[SEALED_BYTES] !== wrapped.length) return null
  // As a packet of version 3 with a key of that length has it.
  const form = readRecipient(
    Buffer.concat([
      Buffer.of(3),
      keyId,
      bytes.subarray(start, start + 1 + SEALED_BYTES),
      Buffer.of(wrapped.length + 1, cipher),
      wrapped,
    ]),
  )
  return form?.algorithm === ALGORITHM.mlKem768X25519 ? { form, namesCipher: false } : null
}
