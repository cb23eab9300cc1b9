/** Verifying signatures against one certificate (RFC 9580, 5.2.4). */
import { createMessage, readSignature, verify as verifyDetached } from 'openpgp'
import { certificateOf } from './cache.ts'
import type { Signed, SignatureResult } from './engine.ts'
import { packetsOf } from './packets.ts'
import { BOUNDS } from './profile.ts'
import { parseSignature } from './signature.ts'

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
    else {
      const date = new Date(Math.max(nowMs, claim.createdMs))
      results.push((await holds(signed.document, packet, certificate, date)) ? 'valid' : 'bad')
    }
  }
  return results
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
      signature: await readSignature({ binarySignature: packet }),
      verificationKeys: await certificateOf(certificate),
      date,
    })
    const results = await Promise.all(signatures.map(({ verified }) => verified))
    return results.length === 1 && results[0] === true
  } catch {
    return false
  }
}
