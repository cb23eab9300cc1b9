/** Whose words they are: signatures against the certificate of the Message's `from` alone. */
import type { Engine, OpenedFile, OpenedText, SignatureClaim } from '../../openpgp/index.ts'
import type { KeyLookups, Time } from '../lookups.ts'
import type { OwnKeys } from '../own-key/own-key.ts'
import type { Certificates } from '../people/certificates.ts'
import { decisionAgainst, signingCertificate, type Person } from '../people/person.ts'
import { RETENTION_MS } from './seen-rules.ts'
import type { ReplayMemory } from './replay-memory.ts'
import { maySpeakUnsigned, type ClaimedSender, type SenderParts } from './sender-rules.ts'
import { withTransientError, type Reason, type Reasoned } from './verdict.ts'

/** The verdict by signatures, before the memory against replays is asked. */
export interface Judged extends Reasoned {
  /** Fingerprint of the certificate that verified. */
  signer?: string
  /** The date of the signature that verified, ms since the epoch. */
  signedAtMs?: number
  /** Digest of the statement that verified. */
  signatureDigest?: string
}

export type SignedContent = Pick<OpenedText | OpenedFile, 'signatures' | 'signed'>

/** The place of an opened message or attachment. */
export interface Claimed extends ClaimedSender {
  /** The date of the Message, ms since the epoch; null: it has none, or a file. */
  dateMs: number | null
  /** When the update reached us (`Time.monotonicMs`): a later answer counts as asked afresh. */
  receivedAtMs: number
  /** Ends work that nobody waits for any more. */
  signal: AbortSignal
  /** The same data was opened in the same place before: its age does not matter any more. */
  isKnown?: boolean
}

export interface UnsignedParts extends SenderParts {
  directory: KeyLookups
  time: Time
  /** Setting `cache.keyListSeconds`, in ms. */
  keyListMaxAgeMs: number
}

export interface SignatureParts extends UnsignedParts {
  certificates: Pick<Certificates, 'copyOf'>
  replayMemory: Pick<ReplayMemory, 'reaches'>
  engine: Pick<Engine, 'verify'>
  keyring: OwnKeys
}

const UNAVAILABLE: Judged = { verdict: 'signer-unavailable' }

/** Judges the signatures of an opened message or attachment. Never throws for what a sender can cause. */
export async function judgeSignatures(
  opened: SignedContent,
  claimed: Claimed,
  parts: SignatureParts,
): Promise<Judged> {
  if (opened.signatures.length === 0) return await judgeUnsigned(claimed, parts)
  const found = await findSigner(opened, claimed, parts)
  const relevant = 'valid' in found ? [found.valid] : opened.signatures
  if (relevant.some((claim) => isForOthers(claim, parts.keyring))) {
    return { verdict: 'not-recipient', reason: 'intended-for-others' }
  }
  if (!('valid' in found)) return found
  const { createdMs: signedAtMs, digest: signatureDigest } = found.valid
  // the bot's own words are dated by its clock alone
  const nowMs = claimed.fromId === parts.botId() ? parts.time.nowMs() : parts.clock.nowMs()
  if (claimed.isKnown !== true && !parts.replayMemory.reaches(signedAtMs, nowMs)) {
    return { verdict: 'replayed', reason: 'older-than-memory' }
  }
  const reason = reasonBeside(found, claimed, parts)
  const { signer } = found
  return { verdict: 'verified', ...(reason && { reason }), signer, signedAtMs, signatureDigest }
}

/** The reason beside `verified`; first the one that may withhold the words. */
function reasonBeside(
  { valid, signer, isFormer }: VerifiedSignature,
  { kind, dateMs, fromId }: Claimed,
  { botId, clock, trust }: SenderParts,
): Reason | null {
  if (fromId === botId()) return null
  const isLongBefore = (dateMs ?? clock.nowMs()) - valid.createdMs > RETENTION_MS
  // a file may be asked for at any time
  if (kind === 'words' && isLongBefore) return 'signed-long-before'
  if (isFormer) return 'former-certificate'
  return trust.isShared(signer) ? 'shared-certificate' : null
}

/**
 * Judges words or a file without a signature. Omitting it gains nothing: a person who must sign has
 * not spoken, and a person whom the policy refuses signed is refused unsigned too.
 */
export async function judgeUnsigned(claimed: Claimed, parts: UnsignedParts): Promise<Judged> {
  const { fromId, chatId } = claimed
  if (fromId === null) return { verdict: 'unknown-signer', reason: 'no-from' }
  if (fromId === parts.botId()) return { verdict: 'bad-signature', reason: 'unsigned' }
  const decision = maySpeakUnsigned(fromId, claimed, parts)
  if (!decision.allowed) return decision.reason
  if (parts.trust.policies.for(chatId) === 'accept') return { verdict: 'unsigned' }
  return await judgeByPolicy(fromId, chatId, parts)
}

/** Judges by the certificate that is listed for the person now, no older than for a send. */
async function judgeByPolicy(
  userId: number,
  chatId: number,
  parts: UnsignedParts,
): Promise<Judged> {
  const { directory, trust, time, keyListMaxAgeMs } = parts
  try {
    const person = await directory.signer(userId, chatId, time.monotonicMs() - keyListMaxAgeMs)
    const fingerprint = person?.fingerprint ?? null
    // a person who never had a certificate has not changed it
    const isFirst = fingerprint === null && !trust.isRemembered(userId)
    if (isFirst && trust.policies.for(chatId) === 'first-use') return { verdict: 'unsigned' }
    const reason = decisionAgainst({ userId, fingerprint }, chatId, parts)
    return reason === null ? { verdict: 'unsigned' } : { verdict: 'unknown-signer', reason }
  } catch (error) {
    return withTransientError(UNAVAILABLE, error)
  }
}

/** A valid signature, and the fingerprint of the certificate that verified it. */
interface VerifiedSignature {
  valid: SignatureClaim
  signer: string
  /** It is the certificate before the one that is listed now. */
  isFormer: boolean
}

async function findSigner(
  opened: SignedContent,
  claimed: Claimed,
  parts: SignatureParts,
): Promise<VerifiedSignature | Judged> {
  const { fromId } = claimed
  if (fromId === null) return { verdict: 'unknown-signer', reason: 'no-from' }
  if (fromId === parts.botId()) return await findOwn(opened, claimed, parts)
  const found = await findListed(opened, { ...claimed, fromId }, parts)
  if ('valid' in found || found.verdict !== 'bad-signature') return found
  return (await findFormer(opened, { ...claimed, fromId }, parts)) ?? found
}

/** By the certificate that is listed as far as is known, then by one that is asked for afresh. */
async function findListed(
  opened: SignedContent,
  claimed: Claimed & { fromId: number },
  parts: SignatureParts,
): Promise<VerifiedSignature | Judged> {
  const { fromId, chatId, receivedAtMs } = claimed
  const { directory } = parts
  try {
    const known = await directory.signer(fromId, chatId)
    const first = await verifyBy(opened, known, { claimed, parts })
    if ('valid' in first || !directory.mayAskAgain(fromId, chatId)) return first
    const person = await directory.signer(fromId, chatId, receivedAtMs)
    const second = await verifyBy(opened, person, { claimed, parts })
    if (!('valid' in second)) directory.askedInVain(fromId, chatId)
    return second
  } catch (error) {
    return withTransientError(UNAVAILABLE, error)
  }
}

async function verifyBy(
  opened: SignedContent,
  person: Person | null,
  { claimed, parts }: { claimed: Claimed; parts: SignatureParts },
): Promise<VerifiedSignature | Judged> {
  const certificate = person === null ? null : signingCertificate(person)
  const signer = person?.fingerprint ?? null
  if (person === null || certificate === null || signer === null) return NO_CERTIFICATE
  if (parts.keyring.fingerprints.has(signer)) return BY_OWN_KEY
  const reason = decisionAgainst(person, claimed.chatId, parts)
  if (reason === 'other-person') return { verdict: 'unknown-signer', reason }
  const { valid, doubt } = await verified(certificate, opened, { claimed, parts })
  if (valid === undefined) return { verdict: 'bad-signature', ...(doubt && { reason: doubt }) }
  if (isByOwnKey(valid, parts.keyring)) return BY_OWN_KEY
  if (reason !== null) return { verdict: 'unknown-signer', reason }
  return { valid, signer, isFormer: false }
}

const NO_CERTIFICATE: Judged = { verdict: 'unknown-signer' }
const BY_OWN_KEY: Judged = { verdict: 'unknown-signer', reason: 'own-key' }

/** By the certificate before the listed one: signatures from before the change. */
async function findFormer(
  opened: SignedContent,
  claimed: Claimed & { fromId: number },
  parts: SignatureParts,
): Promise<VerifiedSignature | null> {
  const { fromId: userId, chatId } = claimed
  const former = parts.trust.formerOf(userId, chatId, parts.clock.expiryNowMs())
  if (former === null) return null
  const { fingerprint, changedAtMs } = former
  if (parts.keyring.fingerprints.has(fingerprint)) return null
  if (parts.people.isOthers({ userId, fingerprint })) return null
  const certificate = await parts.certificates.copyOf(fingerprint)
  if (certificate === null) return null
  const { all } = await verified(certificate, opened, { claimed, parts })
  const valid = all.find(({ createdMs }) => createdMs <= changedAtMs)
  if (valid === undefined || isByOwnKey(valid, parts.keyring)) return null
  return { valid, signer: fingerprint, isFormer: true }
}

/** The bot's own messages, against every key that was ever the bot's. */
async function findOwn(
  opened: SignedContent,
  claimed: Claimed,
  parts: SignatureParts,
): Promise<VerifiedSignature | Judged> {
  for (const { certificate, fingerprint } of parts.keyring.all) {
    const { valid } = await verified(certificate, opened, { claimed, parts })
    if (valid !== undefined) return { valid, signer: fingerprint, isFormer: false }
  }
  return { verdict: 'bad-signature' }
}

/** Signatures by a certificate that count, and why one that its key made does not. */
async function verified(
  certificate: string,
  { signed, signatures }: SignedContent,
  { claimed, parts }: { claimed: Claimed; parts: SignatureParts },
) {
  const nowMs = parts.clock.expiryNowMs()
  const results = await parts.engine.verify(signed, certificate, nowMs, claimed.signal)
  const all = signatures.filter((_, index) => results[index] === 'valid')
  const doubt = results.find((one) => one !== 'valid' && one !== 'bad' && one !== 'other-key')
  return { valid: all[0], all, doubt }
}

/** A key of ours verifies nobody else's signature, in any certificate. */
const isByOwnKey = ({ issuerKeyId }: SignatureClaim, { fingerprints }: OwnKeys): boolean =>
  issuerKeyId !== null && [...fingerprints].some((one) => one.endsWith(issuerKeyId))

/** A signature that names its recipients, none of which is ours (RFC 9580, 5.2.3.36). */
function isForOthers(claim: SignatureClaim, keyring: OwnKeys): boolean {
  if (claim.intended.length === 0) return false
  const own = new Set(keyring.unlocked.flatMap(({ fingerprints }) => fingerprints))
  return !claim.intended.some((fingerprint) => own.has(fingerprint))
}
