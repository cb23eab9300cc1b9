/**
 * Unwrapping a session key with a holder that has our X25519 secret and computes shared secrets
 * alone, as gpg-agent and PKCS#11 do: deriving the wrapping key and opening the packet is ours.
 */
import { createSecretKey } from 'node:crypto'
import type { RecipientKey } from '../crypto/algorithm.ts'
import { isLowOrder } from '../crypto/curve25519.ts'
import { ANONYMOUS, openRecipient, readRecipient } from '../crypto/recipient.ts'
import { CIPHER_NAME, isCipher } from '../format/ciphers.ts'
import { listPackets, TAG } from '../format/packets.ts'
import type { HeldKey, HeldSessionKey } from '../key-holder.ts'

/** A recipient packet whose shared secret is to be computed. */
export interface KeyAgreement {
  /** The sender's public point: 32 bytes, not of low order. */
  ephemeral: Buffer
  /** Unwraps the session key. @param shared the 32 bytes of X25519 (RFC 7748, 6.1); they are zeroed */
  open(shared: Buffer): HeldSessionKey[]
}

/**
 * Reads a framed recipient packet of version 3, for a key of ours or for nobody by name.
 * @returns null for every other packet, and for a point that has no secret in common with anybody:
 *   it does not open
 */
export function readAgreement(asked: {
  to: HeldKey<RecipientKey>
  packet: Uint8Array
}): KeyAgreement | null {
  const { key, fingerprint } = asked.to
  const [one, ...more] = listPackets(asked.packet) ?? []
  if (one?.tag !== TAG.pkesk || more.length > 0) return null
  const form = readRecipient(one.body)
  if (form === null || form.algorithm !== key.algorithm || isLowOrder(form.ephemeral)) return null
  if (form.keyId !== fingerprint.slice(24) && form.keyId !== ANONYMOUS) return null
  const own = { key, fingerprint: Buffer.from(fingerprint, 'hex'), secret: NO_SECRET }
  return {
    ephemeral: form.ephemeral,
    open(shared) {
      const opened = openRecipient(form, own, shared)
      if (opened === null || !isCipher(opened.cipher)) return []
      return [{ algorithm: CIPHER_NAME[opened.cipher], data: opened.data }]
    },
  }
}

/** With a shared secret at hand, ours is not used. */
const NO_SECRET = createSecretKey(Buffer.alloc(1))
