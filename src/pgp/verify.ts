/** Verifying signatures against one certificate (RFC 9580, 5.2.4). */
import {
  createMessage,
  readSignature,
  verify as verifyDetached,
  type PublicKey,
  type Signature,
} from 'openpgp'
import { certificateOf } from './cache.ts'
import type { Signed, SignatureResult } from './engine.ts'
import { packetsOf } from './packets.ts'
import { BOUNDS } from './profile.ts'
import { revokedFromMs } from './revocation.ts'
import { SUBPACKET, parseSignature } from './signature.ts'

/**
 * Takes a document with its signatures, the one certificate that may have made them, and our
 * clock in ms. Gives one result a signature: `other-key` when the certificate holds no key with
 * the issuer's id, `bad` for everything else that does not hold.
 */
export async function verify(
  signed: Signed,
  certificate: string,
  nowMs: number,
): Promise<SignatureResult[]> {
  const key = await certificateOf(certificate)
  const keyIds = new Set(key.getKeyIDs().map((id) => id.toHex()))
  const results: SignatureResult[] = []
  for (const packet of signed.signatures) {
    const claim = claimOf(packet, signed.document)
    if (claim?.issuerKeyId == null) results.push('bad')
    else if (!keyIds.has(claim.issuerKeyId)) results.push('other-key')
    else if (claim.createdMs > nowMs + BOUNDS.clockToleranceMs) results.push('bad')
    else if (claim.createdMs >= (await revokedMs(key, claim.issuerKeyId))) results.push('bad')
    else {
      const date = new Date(Math.max(nowMs, claim.createdMs))
      results.push((await holds(signed.document, packet, certificate, date)) ? 'valid' : 'bad')
    }
  }
  return results
}

/** The library heeds no revocation over a weak hash; we do (RFC 9580, 5.2.3.31). */
async function revokedMs(key: PublicKey, issuerKeyId: string): Promise<number> {
  const parts = [key, ...key.subkeys.filter((one) => one.getKeyID().toHex() === issuerKeyId)]
  return Math.min(...(await Promise.all(parts.map((part) => revokedFromMs(key, part)))))
}

function claimOf(packet: Uint8Array, document: Uint8Array): ReturnType<typeof parseSignature> {
  for (const { body } of packetsOf(packet)) return parseSignature(body, document)
  return null
}

async function holds(
  document: Uint8Array,
  packet: Uint8Array,
  certificate: string,
  date: Date,
): Promise<boolean> {
  try {
    const { signatures } = await verifyDetached({
      message: await createMessage({ binary: document }),
      signature: await signatureOf(packet),
      verificationKeys: await certificateOf(certificate),
      date,
    })
    const results = await Promise.all(signatures.map(({ verified }) => verified))
    return results.length === 1 && results[0] === true
  } catch {
    return false
  }
}

/** Intended recipients are ours to judge: marked critical, the library would refuse them unread. */
async function signatureOf(packet: Uint8Array): Promise<Signature> {
  const signature = await readSignature({ binarySignature: packet })
  for (const parsed of signature.packets) {
    parsed.unknownSubpackets = parsed.unknownSubpackets.filter(
      ({ type }) => type !== SUBPACKET.intendedRecipient,
    )
  }
  return signature
}
