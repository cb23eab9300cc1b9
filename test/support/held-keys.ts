/** What a holder of keys is asked about: keys of certificates, and recipient packets for them. */
import type { RecipientKey, SigningKey } from '../../src/openpgp/crypto/algorithm.ts'
import {
  fingerprintOf,
  publicKeyOf,
  isRecipientKey,
  isSigningKey,
  recipientAlgorithm,
} from '../../src/openpgp/crypto/public-key.ts'
import { recipientBytes, writeRecipient } from '../../src/openpgp/crypto/recipient.ts'
import { freshSessionKey, padSessionKey } from '../../src/openpgp/crypto/session-key.ts'
import { dearmor } from '../../src/openpgp/format/armor.ts'
import { CIPHERS } from '../../src/openpgp/format/ciphers.ts'
import { packetsOf } from '../../src/openpgp/format/packets.ts'
import type { HeldKey } from '../../src/openpgp/index.ts'

/** The key that signs and the key that decrypts in an armored certificate. */
export function heldKeysIn(certificate: string): {
  by: HeldKey<SigningKey>
  to: HeldKey<RecipientKey>
} {
  const bytes = dearmor(certificate, 'PUBLIC KEY BLOCK') ?? Buffer.alloc(0)
  const keys = [...packetsOf(bytes)].map(({ body }) => publicKeyOf(body))
  const held = keys
    .filter((key) => key !== null)
    .map((key) => ({ fingerprint: fingerprintOf(key).toString('hex'), key }))
  const by = held.find((one): one is HeldKey<SigningKey> => isSigningKey(one.key))
  const to = held.find((one): one is HeldKey<RecipientKey> => isRecipientKey(one.key))
  if (by === undefined || to === undefined) throw new Error('no certificate of Curve25519')
  return { by, to }
}

/** A framed recipient packet for a key, and the session key in it. */
export function packetFor({ key, fingerprint }: HeldKey<RecipientKey>): {
  packet: Buffer
  data: Buffer
} {
  const { cipher, data } = freshSessionKey('aes256')
  const packet = Buffer.alloc(recipientBytes(key.algorithm, CIPHERS.aes256.id))
  const padded = padSessionKey({ cipher, data })
  const ephemeral = recipientAlgorithm(key.algorithm).ephemeral()
  const recipient = { ...key, fingerprint: Buffer.from(fingerprint, 'hex') }
  writeRecipient({ cipher, data, padded }, ephemeral, { recipient, target: packet, at: 0 })
  return { packet, data: Buffer.from(data) }
}

/** The byte at which the sender's point begins in such a packet for ECDH. */
export const POINT_AT = 2 + 10 + 3
