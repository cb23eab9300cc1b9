/** Verifying signatures against one certificate (RFC 9580, 5.2.4). */
import {
  createMessage,
  readSignature,
  verify as verifyDetached,
  type PublicKey,
  type Signature,
} from 'openpgp'
import { certificateOf } from './key-cache.ts'
import type { Engine, SignatureResult } from '../engine.ts'
import { packetsOf } from '../format/packets.ts'
import { BOUNDS } from '../bounds.ts'
import { revokedFromMs } from './owner-statements.ts'
import { SUBPACKET } from '../format/packet-writer.ts'
import { madeOver, readClaim, type MadeOver } from '../format/signature-claim.ts'

/**
 * Verifies the signatures of a document against one certificate, at our clock in ms. Gives one
 * result a signature: `other-key` when the certificate has no key with the issuer's id, `bad` for
 * every other failure.
 */
export const verify: Engine['verify'] = async (signed, certificate, nowMs) => {
  const key = await certificateOf(certificate)
  const keyIds = new Set(key.getKeyIDs().map((id) => id.toHex()))
  const results: SignatureResult[] = []
  for (const [index, packet] of signed.signatures.entries()) {
    const made = madeOver(signed, index)
    const claim = claimOf(packet)
    if (claim?.issuerKeyId == null) results.push('bad')
    else if (!keyIds.has(claim.issuerKeyId)) results.push('other-key')
    else if (claim.createdMs > nowMs + BOUNDS.clockToleranceMs) results.push('bad')
    else if (claim.createdMs >= (await revokedMs(key, claim.issuerKeyId))) results.push('bad')
    else {
      const date = new Date(Math.max(nowMs, claim.createdMs))
      if (await isExpired(key, claim.issuerKeyId, date)) results.push('bad')
      else results.push((await holds(packet, made, { certificate, date })) ? 'valid' : 'bad')
    }
  }
  return results
}

/** The library heeds no revocation over a weak hash; we do (RFC 9580, 5.2.3.31). */
async function revokedMs(key: PublicKey, issuerKeyId: string): Promise<number> {
  const parts = [key, ...key.subkeys.filter((one) => one.getKeyID().toHex() === issuerKeyId)]
  return Math.min(...(await Promise.all(parts.map((part) => revokedFromMs(key, part)))))
}

/**
 * The library only checks that the key was valid at the signature's creation time, which the holder
 * of an expired certificate's key can choose.
 */
async function isExpired(key: PublicKey, issuerKeyId: string, at: Date): Promise<boolean> {
  const end = await key.getExpirationTime()
  if (end === null ? hasEnded(key, at) : end.valueOf() <= at.getTime()) return true
  for (const subkey of key.subkeys) {
    if (subkey.getKeyID().toHex() !== issuerKeyId) continue
    const subkeyEnd = await subkey.getExpirationTime(at)
    if (subkeyEnd === null || subkeyEnd.valueOf() <= at.getTime()) return true
  }
  return false
}

/** Where no self-signature counts any more, the earliest end that any of them ever named does. */
function hasEnded(key: PublicKey, at: Date): boolean {
  const createdMs = key.getCreationTime().getTime()
  return key.users
    .flatMap((user) => user.selfCertifications.map((one) => one.keyExpirationTime ?? 0))
    .some((seconds) => seconds > 0 && createdMs + seconds * 1000 <= at.getTime())
}

function claimOf(packet: Uint8Array): ReturnType<typeof readClaim> {
  for (const { body } of packetsOf(packet)) return readClaim(body, () => '')
  return null
}

async function holds(
  packet: Uint8Array,
  made: MadeOver,
  { certificate, date }: { certificate: string; date: Date },
): Promise<boolean> {
  const binary = 'document' in made ? made.document : Buffer.alloc(0)
  try {
    const { signatures } = await verifyDetached({
      message: await createMessage({ binary }),
      signature: await signatureOf(packet, made),
      verificationKeys: await certificateOf(certificate),
      date,
    })
    const results = await Promise.all(signatures.map(({ verified }) => verified))
    return results.length === 1 && results[0] === true
  } catch {
    return false
  }
}

/** The library keeps the hash of a streamed document here; its types omit the field. */
interface Hashed {
  hashed?: Uint8Array
}

/** Intended recipients are ours to judge: marked critical, the library would refuse them unread. */
async function signatureOf(packet: Uint8Array, made: MadeOver): Promise<Signature> {
  const signature = await readSignature({ binarySignature: packet })
  for (const parsed of signature.packets) {
    if ('digest' in made) (parsed as Hashed).hashed = made.digest
    parsed.unknownSubpackets = parsed.unknownSubpackets.filter(
      ({ type }) => type !== SUBPACKET.intendedRecipient,
    )
  }
  return signature
}
