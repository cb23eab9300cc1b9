/** Judges certificates: their contents, and whether they can be sealed to. */
import { PublicKeyEncryptedSessionKeyPacket, enums, readKeys } from 'openpgp'
import type { AnyKeyPacket, Key, PublicKey, Subkey } from 'openpgp'
import { BOUNDS } from '../bounds.ts'
import type { AlgorithmInfo } from '../crypto/algorithm.ts'
import type { CertificateStatus } from '../engine.ts'
import type { UnusableReason } from '../failure-reasons.ts'
import { dearmor } from '../format/armor.ts'
import { TAG } from '../format/packets.ts'
import { framePacket } from '../format/packet-writer.ts'
import { recipientBytes } from '../size.ts'
import { shapeProblem } from './key-shape.ts'
import { merge } from './merge.ts'
import { partsOf } from './owner-statements.ts'
import { canEncrypt, encryptionKey, termsOf, windowOf } from './owner-terms.ts'
import type { OwnerTerms } from './owner-terms.ts'
import { timeOf } from './signature.ts'
import { unusableStatus, type CheckedCertificate } from '../certificate-statuses.ts'
import type { CertificateInfo } from '../certificate-info.ts'

/** The additions of native code to the library's judgement. */
export interface NativeView {
  /** The info for sealing and verifying with a certificate that is usable at a time. */
  infoOf(key: PublicKey, nowMs: number): Promise<CertificateInfo | null>
  /** Whether anything may be sealed to a key; null where that is not known natively. */
  isSound: ((subkey: Key | Subkey) => boolean | null) | null
}

const LIBRARY_ALONE: NativeView = { infoOf: () => Promise.resolve(null), isSound: null }

/**
 * Judges an armored certificate. Never throws because of its content.
 * @param known an earlier copy, whose statements of the owner are merged into it
 */
export const judge = async (
  armored: string,
  nowMs: number,
  known?: string,
): Promise<CertificateStatus> => (await judgeWith(LIBRARY_ALONE, armored, nowMs, known)).status

/** The same, with the additions of native code. */
export async function judgeWith(
  native: NativeView,
  armored: string,
  nowMs: number,
  known?: string,
): Promise<CheckedCertificate> {
  const published = await readOne(armored)
  if (typeof published === 'string')
    return { status: unusableStatus(armored, published), info: null }
  const earlier = known === undefined ? 'unparseable' : await parseOne(known)
  const isSame =
    typeof earlier !== 'string' && earlier.getFingerprint() === published.getFingerprint()
  const merged = isSame ? await merge(published, earlier, nowMs) : null
  const text = merged?.isCarried === true ? textOf(merged.key) : armored
  const key = text === armored ? published : await readOne(text)
  if (typeof key === 'string') return { status: unusableStatus(armored, key), info: null }
  const status = await judgeKey(key, text, { nowMs, native })
  const isUsable = status.unusable === null
  const isStripped = isUsable && merged?.stripped.includes(status.encryptionKeys[0] ?? '') === true
  const isNews = merged?.isNews === true && { isNews: true }
  return {
    status: { ...status, ...isNews, ...(isStripped && { isStripped }) },
    info: isUsable && text === armored ? await native.infoOf(key, nowMs) : null,
  }
}

/** Its text, without what others certify where it would be too long with it. */
function textOf(key: PublicKey): string {
  const whole = key.armor()
  if (whole.length <= BOUNDS.certificateChars) return whole
  for (const user of key.users) user.otherCertifications = []
  return key.armor()
}

/** Reads one certificate. Gives why it is none. */
export const readOne = async (armored: string): Promise<PublicKey | UnusableReason> =>
  shapeProblem(armored) ?? (await parseOne(armored))

/** The same for a remembered copy: an older version may have kept one beyond these bounds. */
async function parseOne(armored: string): Promise<PublicKey | UnusableReason> {
  const binaryKeys = dearmor(armored, 'PUBLIC KEY BLOCK')
  const keys = binaryKeys && (await readKeys({ binaryKeys }).catch(() => null))
  const [key, other] = keys ?? []
  if (keys === null) return 'unparseable'
  if (key === undefined || other !== undefined) return 'several-certificates'
  return key.isPrivate() ? 'secret-key' : key
}

async function judgeKey(
  key: PublicKey,
  armored: string,
  { nowMs, native }: { nowMs: number; native: NativeView },
): Promise<CertificateStatus> {
  const terms = await termsOf(key, nowMs)
  const { primary, subkeys } = terms
  const base = {
    ...unusableStatus(armored, 'no-encryption-subkey'),
    fingerprint: key.getFingerprint(),
    algorithm: describe(key.getAlgorithmInfo()),
    revocations: [primary, ...subkeys].some(({ revokedFromMs }) => revokedFromMs < Infinity),
    encryptionKeys: encryptionKeysOf(key, null),
  }
  const found = encryptionKey(terms, nowMs, native.isSound)
  if (typeof found === 'string') {
    return { ...base, ...(await startOf(terms, { unusable: found, nowMs, native })) }
  }
  const { part } = found
  const info = part.getAlgorithmInfo()
  const algorithm = describe(info)
  if (isTooLong(info)) return { ...base, unusable: 'too-large-to-seal', algorithm }
  if (!(native.isSound?.(part) ?? (await canBeSealedTo(part)))) {
    return { ...base, unusable: 'weak-algorithm', algorithm }
  }
  const sinceMs = Math.max(primary.sinceMs, found.sinceMs)
  return {
    ...base,
    unusable: null,
    notBeforeMs:
      sinceMs > nowMs ? sinceMs - BOUNDS.clockToleranceMs : windowOf(terms, nowMs).fromMs,
    expiresMs: Math.min(primary.endsMs, found.endsMs, found.revokedFromMs),
    algorithm,
    encryptionKeys: encryptionKeysOf(key, part),
    recipientBytes: recipientBytes(info),
  }
}

/** @param chosen the key that messages are sealed to, which is listed first */
function encryptionKeysOf(key: PublicKey, chosen: Key | Subkey | null): string[] {
  const fingerprints = [key, ...key.subkeys].filter(canEncrypt).map((part) => part.getFingerprint())
  const first = chosen === null ? [] : [chosen.getFingerprint()]
  return [...new Set([...first, ...fingerprints])]
}

/** Whether an unusable certificate becomes usable when all that it states has begun, and when. */
async function startOf(
  { primary, statements }: OwnerTerms,
  { unusable, nowMs, native }: { unusable: UnusableReason; nowMs: number; native: NativeView },
): Promise<Pick<CertificateStatus, 'unusable' | 'notBeforeMs'>> {
  const latestMs = Math.max(...partsOf(statements).flatMap(({ own }) => own.map(timeOf)), 0)
  for (const notBeforeMs of [latestMs - BOUNDS.clockToleranceMs, latestMs]) {
    if (notBeforeMs <= nowMs) continue
    const later = await termsOf(primary.part as PublicKey, notBeforeMs)
    const found = encryptionKey(later, notBeforeMs, native.isSound)
    if (typeof found !== 'string') return { unusable: 'not-yet-valid', notBeforeMs }
  }
  return { unusable, notBeforeMs: 0 }
}

/** Too long to be worth its cost. */
const isTooLong = ({ bits }: AlgorithmInfo): boolean => (bits ?? 0) > BOUNDS.rsaBitsMax

function describe(info: AlgorithmInfo): string {
  if (info.bits !== undefined) return `RSA ${info.bits}`
  const name = info.curve ?? info.algorithm
  return CURVE_NAMES[name] ?? name
}

/** The usual names of curves, where openpgp.js has others. */
const CURVE_NAMES: Record<string, string> = {
  curve25519Legacy: 'Curve25519',
  ed25519Legacy: 'Ed25519',
  x25519: 'X25519',
  x448: 'X448',
  mlKem768X25519: 'ML-KEM-768+X25519',
  nistP256: 'NIST P-256',
  nistP384: 'NIST P-384',
  nistP521: 'NIST P-521',
}

/**
 * Seals a session key of zeros to a key, which fails where its point is not on its curve, its
 * numbers are none, or its key derivation is unknown: one person of a group with such a
 * certificate would otherwise stop every message to all others.
 */
async function canBeSealedTo(part: Key | Subkey): Promise<boolean> {
  const zeros = { data: new Uint8Array(32), algorithm: 'aes256' } as const
  return (await recipientPacket(part, zeros).catch(() => null)) !== null
}

/** The library has these, its types do not. */
interface RecipientPacket {
  encrypt(key: AnyKeyPacket): Promise<void>
  write(): Uint8Array
}
const { fromObject } = PublicKeyEncryptedSessionKeyPacket as unknown as {
  fromObject: (this: void, o: object) => RecipientPacket
}

/** A session key sealed to a key: a recipient packet of version 3, framed. @throws Error */
async function recipientPacket(
  { keyPacket }: Key | Subkey,
  { data, algorithm }: { data: Uint8Array; algorithm: keyof typeof enums.symmetric },
): Promise<Uint8Array> {
  const packet = fromObject({
    version: 3,
    encryptionKeyPacket: keyPacket,
    anonymousRecipient: false,
    sessionKey: data,
    sessionKeyAlgorithm: enums.symmetric[algorithm],
  })
  await packet.encrypt(keyPacket)
  return framePacket(TAG.pkesk, packet.write())
}

/** The same to the key that a certificate names for it now. @throws Error where there is none */
export async function recipientOf(
  key: PublicKey,
  sessionKey: Parameters<typeof recipientPacket>[1],
  nowMs: number,
): Promise<Uint8Array> {
  const found = encryptionKey(await termsOf(key, nowMs), nowMs)
  if (typeof found === 'string') throw new Error('a certificate cannot be sealed to')
  return await recipientPacket(found.part, sessionKey)
}
