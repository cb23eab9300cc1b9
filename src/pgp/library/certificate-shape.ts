/** The shape of a certificate (RFC 9580, 10.1), bounded before any library parses it. */
import { createHash } from 'node:crypto'
import { dearmor } from '../format/armor.ts'
import type { UnusableReason } from '../engine.ts'
import { FramingError, TAG, packetsOf } from '../format/packets.ts'
import { BOUNDS } from '../bounds.ts'
import { issuerKeyIdsOf } from '../format/signature-claim.ts'

/**
 * Takes an armored text. Gives why it is no certificate that the library may parse, read off packet
 * headers and issuers alone, or null.
 */
export function shapeProblem(armored: string): UnusableReason | null {
  if (armored.length > BOUNDS.certificateChars) return 'too-large'
  const bytes = dearmor(armored, 'PUBLIC KEY BLOCK')
  if (bytes === null) {
    return armored.includes('PRIVATE KEY BLOCK') ? 'secret-key' : 'unparseable'
  }
  let packets = 0
  let primaries = 0
  let userIds = 0
  let ownKeyId = ''
  let selfSignatures = 0
  let allSelfSignatures = 0
  try {
    for (const { tag, body } of packetsOf(bytes)) {
      if (tag === TAG.secretKey || tag === TAG.secretSubkey) return 'secret-key'
      if (tag === TAG.publicKey && ++primaries > 1) return 'several-certificates'
      if (tag === TAG.publicKey && body[0] !== 4) return 'version'
      if (tag === TAG.publicKey) ownKeyId = keyIdOf(body)
      if (PARTS.has(tag)) selfSignatures = 0
      if (tag === TAG.signature && mayBeOwn(body, ownKeyId)) {
        if (++selfSignatures > BOUNDS.selfSignatures) return 'too-large'
        if (++allSelfSignatures > BOUNDS.allSelfSignatures) return 'too-large'
      }
      if (tag === TAG.userId && ++userIds > BOUNDS.certificateUserIds) return 'too-large'
      if (++packets > BOUNDS.certificatePackets) return 'too-large'
      if (primaries === 0) return 'unparseable'
    }
  } catch (error) {
    if (error instanceof FramingError) return 'unparseable'
    throw error
  }
  return null
}

/** Packets that signatures after them belong to; whatever else stands between is passed over. */
const PARTS: ReadonlySet<number> = new Set([
  TAG.publicKey,
  TAG.userId,
  TAG.userAttribute,
  TAG.publicSubkey,
])

/** Whether the library may take a signature for the key's own: it goes by the last issuer named. */
function mayBeOwn(signature: Uint8Array, ownKeyId: string): boolean {
  const named = issuerKeyIdsOf(signature)
  return named.length === 0 || named.includes(ownKeyId)
}

/** The key id of a version 4 key, from its body (RFC 9580, 5.5.4.2). */
function keyIdOf(body: Uint8Array): string {
  const length = Buffer.from([0x99, body.length >> 8, body.length & 0xff])
  return createHash('sha1').update(length).update(body).digest('hex').slice(24)
}
