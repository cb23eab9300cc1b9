/**
 * The secrets of ML-KEM-768+X25519 wherever the library does everything else: it makes, locks and
 * unlocks such subkeys with these, and opens messages of other forms with these session keys.
 */
import { generateKeyPairSync } from 'node:crypto'
import { ALGORITHM } from '../crypto/algorithm.ts'
import { freshPair } from '../crypto/curve25519.ts'
import { ML_KEM_768_X25519 } from '../crypto/ml-kem.ts'
import { fingerprintOf, publicKeyBody, publicKeyOf } from '../crypto/public-key.ts'
import {
  ANONYMOUS,
  openRecipient,
  readRecipient,
  recipientBytes,
  writeRecipient,
  type RecipientForm,
} from '../crypto/recipient.ts'
import type { SessionKey } from '../crypto/session-key.ts'
import { bufferOf, checksum } from '../bytes.ts'
import { bytesOf } from '../format/packet-writer.ts'
import { CIPHER_NAME, isCipher } from '../format/ciphers.ts'
import { packetAt } from '../format/packets.ts'
import type { FoundKey, ScannedRecipients } from '../format/recipient-scan.ts'
import type { UnlockedKey } from '../engine.ts'
import { isRecipientSecret, readOwnSecrets } from './own-secrets.ts'

/** Makes a key: the body of a secret subkey packet, not locked (draft-ietf-openpgp-pqc, 4.2.2). */
export function makeComposite(createdMs: number): Buffer {
  const { secret } = freshPair()
  const { privateKey } = generateKeyPairSync('ml-kem-768')
  const scalar = secret.export({ format: 'raw-private' })
  const seed = privateKey.export({ format: 'raw-seed' })
  const material = Buffer.concat([scalar, seed])
  const own = ML_KEM_768_X25519.readSecret(material)
  if (own === null) throw new Error('not made')
  const body = Buffer.concat([
    publicKeyBody({
      algorithm: ALGORITHM.mlKem768X25519,
      createdS: Math.floor(createdMs / 1000),
      point: ML_KEM_768_X25519.publicOf(own),
    }),
    Buffer.of(0),
    material,
    bytesOf(checksum(material), 2),
  ])
  for (const copy of [scalar, seed, material]) copy.fill(0)
  return body
}

/**
 * Wraps a session key for a composite key in a recipient packet of version 3.
 * @param body of a public key packet
 * @param o `isAnonymous`: the packet names no key (RFC 9580, 5.1.8)
 * @throws Error for another key, and one that is not sound
 */
export function wrapForComposite(
  body: Uint8Array,
  { isAnonymous, ...sessionKey }: SessionKey & { isAnonymous: boolean },
): Buffer {
  const key = publicKeyOf(body)
  if (key?.algorithm !== ALGORITHM.mlKem768X25519) throw new Error('algorithm')
  const fingerprint = isAnonymous ? Buffer.alloc(20) : fingerprintOf(key)
  const target = Buffer.alloc(recipientBytes(key.algorithm, sessionKey.cipher))
  const padded = { ...sessionKey, padded: Buffer.alloc(0) }
  writeRecipient(padded, freshPair(), { recipient: { ...key, fingerprint }, target, at: 0 })
  return target
}

/** Session keys that recipient packets hold for the composite subkeys of any of our keys. */
export function unwrapComposites(
  { recipientPackets }: Pick<ScannedRecipients, 'recipientPackets'>,
  keys: readonly UnlockedKey[],
): FoundKey[] {
  const forms = recipientPackets.flatMap((packet) => formOf(packetAt(packet, 0).body) ?? [])
  const found: FoundKey[] = []
  for (const { bytes, fingerprint } of keys) {
    for (const [keyId, own] of readOwnSecrets(bytes)) {
      if (!isRecipientSecret(own) || own.key.algorithm !== ALGORITHM.mlKem768X25519) continue
      for (const { form, namesCipher } of forms) {
        const opened = [ANONYMOUS, keyId].includes(form.keyId) ? openRecipient(form, own) : null
        if (opened === null || !isCipher(opened.cipher)) continue
        const algorithm = namesCipher ? CIPHER_NAME[opened.cipher] : null
        found.push({ algorithm, data: opened.data, fingerprint })
      }
    }
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
