/** Verifying signatures against one certificate (RFC 9580, 5.2.4). */
import { createMessage, enums, readSignature, SignaturePacket } from 'openpgp'
import type { LiteralDataPacket, PublicKey, Subkey } from 'openpgp'
import { BOUNDS } from '../bounds.ts'
import type { Engine, SignatureResult } from '../engine.ts'
import { packetAt } from '../format/packets.ts'
import { SUBPACKET } from '../format/packet-writer.ts'
import { issuerKeyIdsOf, madeOver, readClaim } from '../format/signature-claim.ts'
import { certificateOf } from './key-cache.ts'
import { isWeakKey, termsOf, type KeyTerms } from './owner-terms.ts'
import { endOf, isMadeBy, timeOf, weaknessOf } from './signature.ts'

/**
 * Verifies the signatures of a document against one certificate, at our clock in ms. Gives one result a
 * signature: `unknown-form` when it names no key, `other-key` when the certificate has none that it names, `bad` when it is not by that
 * key over this document, else `valid` or why it does not count.
 */
export const verify: Engine['verify'] = async (signed, certificate, nowMs) => {
  const key = await certificateOf(certificate)
  const results: SignatureResult[] = []
  for (const [index, packet] of signed.signatures.entries()) {
    const named = namedIn(packet)
    const parts = [key, ...key.subkeys].filter((one) => named.includes(one.getKeyID().toHex()))
    const made = await readSignature({ binarySignature: packet }).catch(() => null)
    const [signature, another] = made?.packets ?? []
    if (named.length === 0) results.push('unknown-form')
    else if (parts.length === 0) results.push('other-key')
    else if (!(signature instanceof SignaturePacket) || another) results.push('bad')
    else {
      const over = madeOver(signed, index)
      // the library keeps the hash of a streamed document here
      if ('digest' in over) Object.assign(signature, { hashed: over.digest })
      const document = 'document' in over ? over.document : Buffer.alloc(0)
      results.push(await judge(signature, { key, parts, document, nowMs }))
    }
  }
  return results
}

/** Key ids of its possible makers; none for other packets than signatures on messages. */
function namedIn(packet: Uint8Array): string[] {
  if (packet.length === 0) return []
  const { body } = packetAt(packet, 0)
  const claim = readClaim(body, () => '')
  if (claim === null) return []
  const all = issuerKeyIdsOf(body)
  return all.length === 0 && claim.issuerKeyId !== null ? [claim.issuerKeyId] : all
}

async function judge(
  signature: SignaturePacket,
  o: { key: PublicKey; parts: (PublicKey | Subkey)[]; document: Uint8Array; nowMs: number },
): Promise<SignatureResult> {
  const { packets } = await createMessage({ binary: o.document })
  const data = packets.findPacket(enums.packet.literalData) as LiteralDataPacket
  const type = signature.signatureType ?? enums.signature.binary
  for (const part of o.parts) {
    // what such a key signed is not verified at all
    if (isWeakKey(part)) return 'key-unusable'
    if (!(await isMadeBy(signature, part.keyPacket, { type, data, isDetached: true }))) continue
    const { primary, subkeys } = await termsOf(o.key, o.nowMs)
    const terms = [primary, ...subkeys].find((one) => one.part === part)
    const doubt = terms && doubtOf(signature, { primary, terms, nowMs: o.nowMs })
    return doubt ?? 'valid'
  }
  return 'bad'
}

/** Why a signature that a key made does not count for its owner; null where it does. */
function doubtOf(
  signature: SignaturePacket,
  { primary, terms, nowMs }: { primary: KeyTerms; terms: KeyTerms; nowMs: number },
): SignatureResult | null {
  const madeMs = timeOf(signature)
  if (madeMs > nowMs + BOUNDS.clockToleranceMs) return 'signed-ahead'
  // who holds the key of a certificate that ended chooses the date
  const atMs = Math.max(nowMs, madeMs)
  if (endOf(signature) <= atMs) return 'signature-expired'
  const weakness = weaknessOf(withoutIntended(signature))
  if (weakness !== null) return weakness
  if (madeMs >= Math.min(primary.revokedFromMs, terms.revokedFromMs)) return 'key-revoked'
  const problem = primary.problem ?? terms.problem ?? null
  if (problem !== null) return problem === 'expired' ? 'key-expired' : 'key-unusable'
  if (Math.min(primary.endsMs, terms.endsMs) <= atMs) return 'key-expired'
  // the first binding may be gone: a renewed one has its own date
  if (madeMs < Math.max(primary.createdMs, terms.createdMs)) return 'not-valid-then'
  if (isWeakKey(primary.part)) return 'key-unusable'
  return terms.maySign ? null : 'may-not-sign'
}

/** Intended recipients are ours to judge: marked critical, they are no reason to refuse it unread. */
function withoutIntended(signature: SignaturePacket): SignaturePacket {
  const unknownSubpackets = signature.unknownSubpackets.filter(
    ({ type }) => type !== SUBPACKET.intendedRecipient,
  )
  return Object.assign(Object.create(signature) as SignaturePacket, { unknownSubpackets })
}
