/** Judges certificates: their contents, and whether they can be sealed to. */
import {
  enums,
  readKey,
  readKeys,
  type Key,
  type PublicKey,
  type Subkey,
  encryptSessionKey,
} from 'openpgp'
import { BOUNDS } from '../bounds.ts'
import type { AlgorithmInfo } from '../crypto/algorithm.ts'
import type { CertificateStatus } from '../engine.ts'
import type { UnusableReason } from '../failure-reasons.ts'
import { COMPOSITE } from '../format/packets.ts'
import { recipientBytes } from '../size.ts'
import { isComposite } from './composite.ts'
import { shapeProblem } from './key-shape.ts'
import {
  carryRevocations,
  ownRevocations,
  carrySelfSignatures,
  timeOf,
} from './owner-statements.ts'
import { unusableStatus, type CheckedCertificate } from '../certificate-statuses.ts'
import type { CertificateInfo } from '../certificate-info.ts'

/** The additions of native code to the library's judgement. */
export interface NativeView {
  /** The info for sealing and verifying with a certificate that is usable at a time. */
  infoOf(key: PublicKey, nowMs: number): Promise<CertificateInfo | null>
  /** Whether anything may be sealed to a key; null where that is not known natively. */
  isSound(subkey: Key | Subkey): boolean | null
  /** The subkey of ML-KEM to seal to at a date, before any other; null for none. */
  compositeOf(key: PublicKey, date: Date): Promise<Subkey | null>
}

const LIBRARY_ALONE: NativeView = {
  infoOf: () => Promise.resolve(null),
  isSound: () => null,
  compositeOf: () => Promise.resolve(null),
}

/**
 * Judges an armored certificate. Never throws because of its content.
 * @param known an earlier copy, whose revocations and self-signatures are merged into it
 */
export async function judge(
  armored: string,
  nowMs: number,
  known?: string,
): Promise<CertificateStatus> {
  return (await judgeWith(LIBRARY_ALONE, armored, nowMs, known)).status
}

/** The same, with the additions of native code. */
export async function judgeWith(
  native: NativeView,
  armored: string,
  nowMs: number,
  known?: string,
): Promise<CheckedCertificate> {
  const refused = shapeProblem(armored)
  if (refused !== null) return { status: unusableStatus(armored, refused), info: null }
  const key = await readOne(armored)
  if (typeof key === 'string') return { status: unusableStatus(armored, key), info: null }
  const merged = known === undefined ? NOTHING : await merge(key, known)
  const { isCarried, isNews, stripped } = merged
  const status = await judgeKey(key, isCarried ? key.armor() : armored, { nowMs, native })
  // Merged beyond the bounds it could not be sealed to, and would fail every message.
  const unusable = status.unusable ?? (isCarried ? shapeProblem(status.armored) : null)
  const isPlain = unusable === null && !isCarried
  const isStripped = unusable === null && stripped.includes(status.encryptionKeys[0])
  return {
    status: { ...status, unusable, ...(isNews && { isNews }), ...(isStripped && { isStripped }) },
    info: isPlain ? await native.infoOf(key, nowMs) : null,
  }
}

/** Reads one certificate. Gives why it is none. */
export async function readOne(armored: string): Promise<PublicKey | UnusableReason> {
  const keys = await readKeys({ armoredKeys: armored }).catch(() => null)
  const [key, other] = keys ?? []
  if (keys === null) return 'unparseable'
  if (key === undefined || other !== undefined) return 'several-certificates'
  return key.isPrivate() ? 'secret-key' : key
}

/** `stripped` are fingerprints of composite subkeys that the certificate lacked. */
const NOTHING = { isCarried: false, isNews: false, stripped: [] as (string | undefined)[] }

/**
 * Merges an earlier copy into a certificate.
 * @returns whether anything was merged, and whether the copy lacked a statement of the owner
 */
async function merge(key: PublicKey, known: string): Promise<typeof NOTHING> {
  const earlier = await readOne(known)
  if (typeof earlier === 'string') return NOTHING
  if (earlier.getFingerprint() !== key.getFingerprint()) return NOTHING
  const isNews = await carrySelfSignatures(await readKey({ armoredKey: known }), key)
  const there = new Set(encryptionKeysOf(key, null))
  const carried = [await carryRevocations(key, earlier), await carrySelfSignatures(key, earlier)]
  const composites = key.subkeys.filter(isComposite).map((one) => one.getFingerprint())
  const stripped = composites.filter((one) => !there.has(one))
  return { isCarried: carried.includes(true), isNews, stripped }
}

async function judgeKey(
  key: PublicKey,
  armored: string,
  { nowMs, native }: { nowMs: number; native: NativeView },
): Promise<CertificateStatus> {
  const ownRevoked = await ownRevocations(key, key)
  const base = {
    ...unusableStatus(armored, 'no-encryption-subkey'),
    fingerprint: key.getFingerprint(),
    algorithm: describe(key.getAlgorithmInfo()),
    revocations: ownRevoked.length > 0 || (await revokesSubkey(key)),
    encryptionKeys: encryptionKeysOf(key, null),
  }
  if (ownRevoked.length > 0) return { ...base, unusable: 'revoked' }
  const composite = await native.compositeOf(key, new Date(nowMs))
  const found = composite
    ? { subkey: composite, date: new Date(nowMs) }
    : await encryptionKey(key, nowMs)
  if (!('subkey' in found))
    return { ...base, ...(await unfitnessOf(key, nowMs, { ...found, native })) }
  const { subkey, date } = found
  const info = subkey.getAlgorithmInfo()
  if (isTooLong(info) || !(native.isSound(subkey) ?? (await canBeSealedTo(key, date)))) {
    return { ...base, unusable: 'weak-algorithm', algorithm: describe(info) }
  }
  return {
    ...base,
    unusable: null,
    notBeforeMs: key.getCreationTime().getTime() - BOUNDS.clockToleranceMs,
    expiresMs: await expiry(key, subkey, nowMs),
    algorithm: describe(info),
    encryptionKeys: encryptionKeysOf(key, subkey),
    recipientBytes: recipientBytes(info),
  }
}

const { publicKey } = enums
/** Algorithms that encrypt (RFC 9580, 9.1). */
const ENCRYPTING: ReadonlySet<number> = new Set([
  publicKey.rsaEncryptSign,
  publicKey.rsaEncrypt,
  publicKey.elgamal,
  publicKey.ecdh,
  publicKey.x25519,
  publicKey.x448,
  COMPOSITE,
])

/** @param chosen the key that messages are sealed to, which is listed first */
function encryptionKeysOf(key: PublicKey, chosen: Key | Subkey | null): string[] {
  const parts = [key, ...key.subkeys].filter(({ keyPacket }) => ENCRYPTING.has(keyPacket.algorithm))
  const fingerprints = parts.map((part) => part.getFingerprint())
  const first = chosen === null ? [] : [chosen.getFingerprint()]
  return [...new Set([...first, ...fingerprints])]
}

/** The subkey to seal to, at our clock or as far ahead of it as clocks may differ. */
export async function encryptionKey(
  key: PublicKey,
  nowMs: number,
): Promise<{ subkey: Key | Subkey; date: Date } | { problem: string }> {
  let problem = ''
  for (const date of [new Date(nowMs), new Date(nowMs + BOUNDS.clockToleranceMs)]) {
    try {
      return { subkey: await key.getEncryptionKey(undefined, date), date }
    } catch (error) {
      problem ||= String(error)
    }
  }
  return { problem }
}

async function revokesSubkey(key: PublicKey): Promise<boolean> {
  for (const subkey of key.subkeys) if ((await ownRevocations(key, subkey)).length > 0) return true
  return false
}

/** When primary or subkey expires, or the subkey is revoked as of a date that is still ahead. */
async function expiry(key: PublicKey, subkey: Key | Subkey, nowMs: number): Promise<number> {
  const times = [await key.getExpirationTime(), await subkey.getExpirationTime()]
  const ends = times.map((time) => (time instanceof Date ? time.getTime() : Infinity))
  const revoked = subkey.revocationSignatures.map(timeOf).filter((atMs) => atMs > nowMs)
  return Math.min(...ends, ...revoked)
}

/** Why no message can be sealed to the certificate now: a later start, or the library's error. */
async function unfitnessOf(
  key: PublicKey,
  nowMs: number,
  { problem, native }: { problem: string; native: NativeView },
): Promise<Pick<CertificateStatus, 'unusable' | 'notBeforeMs'>> {
  const signatures = [
    ...key.users.flatMap((user) => user.selfCertifications),
    ...key.subkeys.flatMap((subkey) => subkey.bindingSignatures),
  ]
  const latestMs = Math.max(...signatures.map(timeOf), 0)
  if (latestMs > nowMs && (await native.compositeOf(key, new Date(latestMs)))) {
    return { unusable: 'not-yet-valid', notBeforeMs: latestMs }
  }
  const notBeforeMs = latestMs - BOUNDS.clockToleranceMs
  const comes = notBeforeMs > nowMs && 'subkey' in (await encryptionKey(key, notBeforeMs))
  return comes
    ? { unusable: 'not-yet-valid', notBeforeMs }
    : { unusable: reasonOf(problem), notBeforeMs: 0 }
}

/** Maps the text of the library's error to our closed set of reasons. */
function reasonOf(problem: string): UnusableReason {
  if (/revoked/i.test(problem)) return 'revoked'
  if (/expired/i.test(problem)) return 'expired'
  if (/insecure|not allowed|below|SHA1|rejected|considered too weak/i.test(problem)) {
    return 'weak-algorithm'
  }
  return 'no-encryption-subkey'
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
 * @param date at which its subkey was found to be valid
 */
async function canBeSealedTo(key: PublicKey, date: Date): Promise<boolean> {
  const zeros = { data: new Uint8Array(32), algorithm: 'aes256' } as const
  const sealed = encryptSessionKey({ ...zeros, encryptionKeys: key, date, format: 'binary' })
  return await sealed.then(() => true).catch(() => false)
}
