/**
 * The one shape of certificate that most people have, read strictly: an Ed25519 primary key, one
 * user id, one Curve25519 subkey, one self-signature on each (RFC 9580, 10.1.3). openpgp.js accepts
 * every certificate that is accepted here, and reads the same from it; it judges all others.
 */
import { BOUNDS, NEVER_S } from '../bounds.ts'
import type { Statement } from '../crypto/algorithm.ts'
import {
  publicKeyOf,
  fingerprintOf,
  isRecipientKey,
  isSigningKey,
  recipientAlgorithm,
  signatureAlgorithm,
} from '../crypto/public-key.ts'
import { dearmor } from '../format/armor.ts'
import { TAG, listPackets, type Packet } from '../format/packets.ts'
import { SUBPACKET, keyOver, userIdOver } from '../format/packet-writer.ts'
import {
  createdS,
  hasOnly,
  isIssuedBy,
  readSignatureForm,
  soleSubpacket,
  statementOf,
  type SignaturePacketForm,
} from './signature-packet.ts'
import { holdsAt } from '../certificate-statuses.ts'
import type { CertificateInfo } from '../certificate-info.ts'

const SHAPE = [TAG.publicKey, TAG.userId, TAG.signature, TAG.publicSubkey, TAG.signature]
const CERTIFICATIONS = new Set([0x10, 0x11, 0x12, 0x13])
const SUBKEY_BINDING = 0x18
const MAY_SIGN = 0x02
const MAY_ENCRYPT = 0x0c
const AES256 = 9
/** Preferences, features, and the mark of the primary user id, on which nothing here depends. */
const PREFERENCES = [21, 22, 23, 25, 30, 34, 39]
/** Subpackets allowed on a self-signature: those that are read here, and preferences. */
const HASHED = new Set<number>([
  SUBPACKET.created,
  SUBPACKET.keyExpires,
  SUBPACKET.preferredCiphers,
  SUBPACKET.issuer,
  SUBPACKET.notation,
  SUBPACKET.keyFlags,
  SUBPACKET.issuerFingerprint,
  ...PREFERENCES,
])

/**
 * Reads and verifies an armored certificate of the common shape that is valid at `nowMs`.
 * @returns null for every other form, which is no judgement of it
 */
export function readCommonCertificate(armored: string, nowMs: number): CertificateInfo | null {
  if (armored.length > BOUNDS.certificateChars) return null
  const bytes = dearmor(armored, 'PUBLIC KEY BLOCK')
  const packets = bytes && listPackets(bytes, SHAPE.length + 1)
  return packets && readCommonPackets(packets, nowMs)
}

/** The same for a certificate in packets. */
export function readCommonPackets(
  packets: readonly Packet[],
  nowMs: number,
): CertificateInfo | null {
  const parts = partsOf(packets)
  const info = parts && infoOf(parts)
  if (!parts || !info || !holdsAt(info, nowMs)) return null
  const { primary, certification, binding, bodies } = parts
  const overKey = keyOver(bodies.primary)
  const overUserId = Buffer.concat([overKey, userIdOver(parts.userId)])
  const overSubkey = Buffer.concat([overKey, keyOver(bodies.subkey)])
  const certified = statementOf(certification, overUserId, primary)
  const bound = statementOf(binding, overSubkey, primary)
  return certified && bound && isTrue(certified) && isTrue(bound) ? info : null
}

const isTrue = (statement: Statement): boolean =>
  signatureAlgorithm(statement.algorithm).holds(statement)

function partsOf(packets: readonly Packet[]) {
  if (packets.length !== SHAPE.length) return null
  if (!packets.every(({ tag }, index) => tag === SHAPE[index])) return null
  const [key, id, certified, subkey, bound] = packets.map(({ body }) => body)
  if (!key || !id || !certified || !subkey || !bound) return null
  const primary = publicKeyOf(key)
  const recipientKey = publicKeyOf(subkey)
  const certification = readSignatureForm(certified)
  const binding = readSignatureForm(bound)
  if (!primary || !recipientKey || !certification || !binding) return null
  if (!isSigningKey(primary) || !isRecipientKey(recipientKey)) return null
  const kind = recipientAlgorithm(recipientKey.algorithm)
  if (kind.isComposite || !kind.isSound(recipientKey.point)) return null
  const bodies = { primary: key, subkey }
  return { primary, userId: id, certification, recipientKey, binding, bodies }
}

type CommonParts = NonNullable<ReturnType<typeof partsOf>>

function infoOf({
  primary,
  certification,
  recipientKey,
  binding,
}: CommonParts): CertificateInfo | null {
  const fingerprint = fingerprintOf(primary)
  if (!CERTIFICATIONS.has(certification.type) || binding.type !== SUBKEY_BINDING) return null
  const certified = termsOf(certification, primary.createdS, fingerprint)
  const bound = termsOf(binding, recipientKey.createdS, fingerprint)
  if (certified === null || bound === null || (bound.flags & MAY_ENCRYPT) === 0) return null
  return {
    fingerprint,
    recipientKey,
    signingKey: (certified.flags & MAY_SIGN) === 0 ? null : primary,
    primarySigns: (certified.flags & MAY_SIGN) !== 0,
    hasNoOtherKey: true,
    readsAes256: certified.ciphers.includes(AES256),
    fromS: Math.max(primary.createdS, recipientKey.createdS, certified.createdS, bound.createdS),
    untilS: Math.min(certified.untilS, bound.untilS),
  }
}

/** The terms of a self-signature for its key; null for any subpacket that is not common. */
function termsOf(form: SignaturePacketForm, keyCreatedS: number, fingerprint: Buffer) {
  const atS = createdS(form)
  const [flags] = soleSubpacket(form.hashed, SUBPACKET.keyFlags) ?? []
  const life = optionalSubpacket(form, SUBPACKET.keyExpires, NO_LIFE)
  const ciphers = optionalSubpacket(form, SUBPACKET.preferredCiphers, NO_CIPHERS)
  if (!hasOnly(form, HASHED) || !isIssuedBy(form, fingerprint)) return null
  if (atS === null || flags === undefined || life?.length !== 4 || ciphers === null) return null
  const lifeS = life.readUInt32BE()
  const untilS = lifeS === 0 ? NEVER_S : Math.min(keyCreatedS + lifeS, NEVER_S)
  return { createdS: atS, untilS, flags, ciphers }
}

const NO_LIFE = Buffer.alloc(4)
const NO_CIPHERS = Buffer.alloc(0)

/** Bytes of the one subpacket of a kind, or `absent`; null when there are more. */
const optionalSubpacket = ({ hashed }: SignaturePacketForm, kind: number, absent: Buffer) =>
  hashed.some((one) => one.kind === kind) ? soleSubpacket(hashed, kind) : absent
