/** The library's description of a certificate, for sealing and verifying natively. */
import { enums, readKey, type PublicKey } from 'openpgp'
import type { NativePublicKey, SigningKey } from '../crypto/algorithm.ts'
import {
  publicKeyOf,
  isRecipientKey,
  isSigningKey,
  recipientAlgorithm,
} from '../crypto/public-key.ts'
import type { UnlockedKey } from '../engine.ts'
import { NEVER_S } from '../bounds.ts'
import { judgeWith, type NativeView } from './certificate.ts'
import { isComposite } from './composite.ts'
import { secretKeyOf, type WholeSecretKey } from './key-cache.ts'
import { encryptionKey, termsOf, unfitness, windowOf, type OwnerTerms } from './owner-terms.ts'
import type { CheckedCertificate } from '../certificate-statuses.ts'
import type { CertificateInfo, OwnKeyInfo } from '../certificate-info.ts'

/** As `judge`, with the info for native sealing and verifying where the form allows it. */
export const judgeFully = (
  armored: string,
  nowMs: number,
  known?: string,
): Promise<CheckedCertificate> => judgeWith(NATIVE, armored, nowMs, known)

const NATIVE: NativeView = {
  infoOf,
  isSound(subkey) {
    const key = publicKeyOf(subkey.keyPacket.write())
    return isRecipientKey(key) ? recipientAlgorithm(key.algorithm).isSound(key.point) : null
  },
}

/**
 * Describes a certificate that is usable at `nowMs`, for as long as nothing in it begins or ends;
 * null where only the library may use it: another algorithm, anything revoked, or usable only
 * because clocks may differ. One with a composite subkey is sealed to natively alone, and then
 * verifies by the library where anything is revoked.
 */
async function infoOf(key: PublicKey, nowMs: number): Promise<CertificateInfo | null> {
  const terms = await termsOf(key, nowMs)
  const { primary, subkeys, ciphers } = terms
  const found = encryptionKey(terms, nowMs, NATIVE.isSound)
  if (typeof found === 'string' || Math.max(primary.sinceMs, found.sinceMs) > nowMs) return null
  const isRevoked = [key, ...key.users, ...key.subkeys].some(
    ({ revocationSignatures }) => revocationSignatures.length > 0,
  )
  const hasComposite = isComposite(found.part)
  if (isRevoked && !hasComposite) return null
  const recipientKey = publicKeyOf(found.part.keyPacket.write())
  if (!isRecipientKey(recipientKey)) return null
  const { signingKey, by } = isRevoked ? NO_SIGNER : signingKeyOf(terms, nowMs)
  const used = new Set<unknown>([found.part, by])
  const { fromMs, untilMs } = windowOf(terms, nowMs)
  return {
    fingerprint: new Uint8Array(Buffer.from(key.getFingerprint(), 'hex')),
    recipientKey: alone(recipientKey),
    signingKey: signingKey && alone(signingKey),
    primarySigns: by === primary.part,
    hasNoOtherKey: subkeys.every(({ part }) => used.has(part)),
    // Every program with such keys reads AES-256 (draft-ietf-openpgp-pqc, 7.1).
    readsAes256: hasComposite || ciphers.includes(enums.symmetric.aes256),
    fromS: fromMs / 1000,
    untilS: Math.min(NEVER_S, untilMs / 1000),
  }
}

/** Its point without the bytes around it, which would travel between threads too. */
const alone = <K extends NativePublicKey>(key: K): K => ({
  ...key,
  point: new Uint8Array(key.point),
})

const NO_SIGNER = { signingKey: null, by: null }

/** The newest subkey that signs, or the primary key. */
function signingKeyOf(
  { primary, subkeys }: OwnerTerms,
  nowMs: number,
): { signingKey: SigningKey | null; by: unknown } {
  const newest = subkeys.toSorted((a, b) => b.createdMs - a.createdMs)
  const by = [...newest, primary].find((one) => one.maySign && unfitness(one, nowMs) === null)
  const signingKey = by === undefined ? null : publicKeyOf(by.part.keyPacket.write())
  return isSigningKey(signingKey) ? { signingKey, by: by?.part } : NO_SIGNER
}

/** Describes an unlocked key, or the public part of one that a holder has, as it is at `nowMs`. */
export async function describeOwnKey(key: UnlockedKey, nowMs: number): Promise<OwnKeyInfo> {
  const whole = await readKey({ binaryKey: key.bytes })
  const secretKey = (whole.isPrivate() ? await secretKeyOf(key) : whole) as WholeSecretKey
  const opening = whole.isPrivate()
    ? await secretKey.getDecryptionKeys(undefined, null).catch(() => [])
    : whole.subkeys
  const composites = secretKey.subkeys.filter(isComposite)
  return {
    opens: [...opening, ...composites].map((one) => one.getKeyID().toHex()),
    info: await infoOf(secretKey.toPublic(), nowMs),
  }
}
