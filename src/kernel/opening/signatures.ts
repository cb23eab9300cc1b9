/** Whose words they are: signatures against the certificate of the Message's `from` alone. */
import type { SignedKind } from '../memory.ts'
import type { JudgingClock, KeyLookups, Time } from '../lookups.ts'
import type { OwnKeys } from '../own-key/own-key.ts'
import type { People } from '../people/people.ts'
import type { Trust } from '../people/trust.ts'
import { signingCertificate } from '../people/person.ts'
import type { ReplayMemory } from './replay-memory.ts'
import { RETENTION_MS } from './seen-rules.ts'
import type { Engine, OpenedFile, OpenedText, SignatureClaim } from '../../openpgp/index.ts'
import { type Reason, type TransientError, type Verdict, transientErrorOf } from './verdict.ts'

/** What the signatures establish, before the memory against replays is asked. */
export interface Judged {
  verdict: Extract<
    Verdict,
    | 'verified'
    | 'unsigned'
    | 'unknown-signer'
    | 'signer-unavailable'
    | 'bad-signature'
    | 'replayed'
    | 'not-recipient'
  >
  reason?: Reason
  /** Fingerprint of the certificate that verified. */
  signer?: string
  /** When it was signed, ms since the epoch, by the signature that verified. */
  signedAtMs?: number
  /** Digest of the statement that verified. */
  signatureDigest?: string
  /** The certificate could not be had just now, and asking again soon may help. */
  passing?: TransientError
}

export interface SignatureParts {
  engine: Engine
  directory: KeyLookups
  keyring: OwnKeys
  people: People
  trust: Trust
  botId: () => number | null
  /** Setting `cache.keyListSeconds`, in ms. */
  keyListMaxAgeMs: number
  replayMemory: Pick<ReplayMemory, 'reaches'>
  clock: JudgingClock
  time: Time
}

/** What was opened, as far as its signatures go. */
export type SignedContent = Pick<OpenedText | OpenedFile, 'signatures' | 'signed'>

/** Where an opened message or attachment was found. */
export interface Claimed {
  kind: SignedKind
  chatId: number
  fromId: number | null
  /** When the Message says that it was written, ms since the epoch; null: it does not, or a file. */
  dateMs: number | null
  /** When the update reached us (`Time.monotonicMs`): what was asked later counts as asked afresh. */
  receivedAtMs: number
  /** Ends work that nobody waits for any more. */
  signal: AbortSignal
  /** The same data was opened in the same place before: how old it is does not matter any more. */
  isKnown?: boolean
  /** It was given as unsigned then: that its sender has signed since says nothing of it. */
  wasUnsigned?: boolean | undefined
}

/** Judges the signatures of an opened message or attachment. Never throws for what a sender can cause. */
export async function judgeSignatures(
  opened: SignedContent,
  claimed: Claimed,
  parts: SignatureParts,
): Promise<Judged> {
  if (opened.signatures.length === 0) return await judgeUnsigned(claimed, parts)
  const found = await findSigner(opened, claimed, parts)
  const relevant = 'failure' in found ? opened.signatures : [found.valid]
  if (relevant.some((claim) => isForOthers(claim, parts.keyring))) {
    return { verdict: 'not-recipient', reason: 'intended-for-others' }
  }
  if ('failure' in found) return found.failure
  const { valid, signer, isFormer } = found
  // the bot's own words are dated by its clock alone
  const nowMs = claimed.fromId === parts.botId() ? parts.time.nowMs() : parts.clock.nowMs()
  if (claimed.isKnown !== true && !parts.replayMemory.reaches(valid.createdMs, nowMs)) {
    return { verdict: 'replayed', reason: 'older-than-memory' }
  }
  const reason = reasonBeside(valid, { signer, isFormer, claimed, parts })
  const { createdMs: signedAtMs, digest: signatureDigest } = valid
  return { verdict: 'verified', ...(reason && { reason }), signer, signedAtMs, signatureDigest }
}

/** What else there is to say of a good signature; first what may keep the words back. */
function reasonBeside(
  { createdMs }: SignatureClaim,
  o: { signer: string; isFormer: boolean | undefined; claimed: Claimed; parts: SignatureParts },
): Reason | null {
  const { kind, dateMs, fromId } = o.claimed
  if (fromId === o.parts.botId()) return null
  const isLongBefore = (dateMs ?? o.parts.clock.nowMs()) - createdMs > RETENTION_MS
  // a file may be asked for at any time
  if (kind === 'words' && isLongBefore) return 'signed-long-before'
  if (o.isFormer === true) return 'former-certificate'
  return o.parts.trust.isShared(o.signer) ? 'shared-certificate' : null
}

/**
 * Leaving the signature out gains nothing: who must sign has not spoken, and whom the policy does
 * not let speak signed is not let speak unsigned either.
 */
export async function judgeUnsigned(claimed: Claimed, parts: SignatureParts): Promise<Judged> {
  const { fromId, chatId } = claimed
  if (fromId === null) return { verdict: 'unknown-signer', reason: 'no-from' }
  if (fromId === parts.botId()) return { verdict: 'bad-signature', reason: 'unsigned' }
  const refused = whyNotUnsigned(fromId, claimed, parts)
  if (refused !== null) return refused
  if (parts.trust.policies.for(chatId) === 'accept') return { verdict: 'unsigned' }
  return await judgeByPolicy(fromId, claimed, parts)
}

/** Why somebody's unsigned words or files are not theirs, by what is remembered of them. */
function whyNotUnsigned(
  fromId: number,
  { kind, wasUnsigned = false }: Pick<Claimed, 'kind' | 'wasUnsigned'>,
  { people, trust }: Pick<SignatureParts, 'people' | 'trust'>,
): Judged | null {
  if (trust.isBlocked(fromId)) return { verdict: 'unknown-signer', reason: 'blocked' }
  if (!wasUnsigned && people.hasSigned(fromId, kind)) {
    return { verdict: 'bad-signature', reason: 'stopped-signing' }
  }
  return kind === 'words' && trust.isVerified(fromId)
    ? { verdict: 'bad-signature', reason: 'must-sign' }
    : null
}

const OTHER_PERSON: Judged = { verdict: 'unknown-signer', reason: 'other-person' }

/**
 * Why what was judged some time ago does not stand any more: the operator has spoken, or the person
 * has signed, in the meantime. Null where it stands.
 */
export function whyNotAnyMore(
  { verdict, signer }: { verdict: Verdict | null; signer?: string | undefined },
  {
    fromId,
    chatId,
    kind,
    wasUnsigned,
  }: Pick<Claimed, 'fromId' | 'chatId' | 'kind' | 'wasUnsigned'>,
  parts: Pick<SignatureParts, 'people' | 'trust' | 'botId' | 'clock'>,
): Judged | null {
  if (fromId === null || fromId === parts.botId()) return null
  if (verdict === 'unsigned') return whyNotUnsigned(fromId, { kind, wasUnsigned }, parts)
  if (verdict !== 'verified' || signer === undefined) return null
  if (parts.people.isOthers({ userId: fromId, fingerprint: signer })) return OTHER_PERSON
  const reason = parts.trust.distrust(fromId, signer, chatId)
  if (reason === null) return null
  const former = parts.trust.formerOf(fromId, chatId, parts.clock.expiryNowMs())
  return former?.fingerprint === signer ? null : { verdict: 'unknown-signer', reason }
}

/** What is listed for the person now decides, no older than what would be sealed to. */
async function judgeByPolicy(
  fromId: number,
  { chatId }: Claimed,
  { directory, people, trust, time, keyListMaxAgeMs }: SignatureParts,
): Promise<Judged> {
  try {
    const person = await directory.signer(fromId, chatId, time.monotonicMs() - keyListMaxAgeMs)
    const fingerprint = person?.fingerprint ?? null
    // of somebody who never had a certificate none has changed
    const isFirst = fingerprint === null && !trust.isRemembered(fromId)
    const policy = trust.policies.for(chatId)
    if (isFirst && policy === 'first-use') return { verdict: 'unsigned' }
    const isOthers = fingerprint !== null && people.isOthers({ userId: fromId, fingerprint })
    const reason = isOthers ? 'other-person' : trust.distrust(fromId, fingerprint, chatId)
    return reason === null ? { verdict: 'unsigned' } : { verdict: 'unknown-signer', reason }
  } catch (error) {
    return unavailable(error)
  }
}

/** The signature that is valid with the fingerprint of its certificate, or why there is none. */
type Search = { valid: SignatureClaim; signer: string; isFormer?: boolean } | { failure: Judged }

const failed = (verdict: Judged['verdict'], reason?: Reason): Search => ({
  failure: { verdict, ...(reason !== undefined && { reason }) },
})

async function findSigner(
  opened: SignedContent,
  claimed: Claimed,
  parts: SignatureParts,
): Promise<Search> {
  const { fromId } = claimed
  if (fromId === null) return failed('unknown-signer', 'no-from')
  if (fromId === parts.botId()) return await findOwn(opened, claimed, parts)
  const found = await findListed(opened, { ...claimed, fromId }, parts)
  if ('valid' in found || found.failure.verdict !== 'bad-signature') return found
  return (await findFormer(opened, { ...claimed, fromId }, parts)) ?? found
}

async function findListed(
  opened: SignedContent,
  claimed: Claimed & { fromId: number },
  parts: SignatureParts,
): Promise<Search> {
  const { fromId, chatId, receivedAtMs } = claimed
  try {
    const known = await parts.directory.signer(fromId, chatId)
    const first = await verifyBy(opened, known, { claimed, parts })
    if ('valid' in first || !parts.directory.mayAskAgain(fromId, chatId)) return first
    const person = await parts.directory.signer(fromId, chatId, receivedAtMs)
    const second = await verifyBy(opened, person, { claimed, parts })
    if ('failure' in second) parts.directory.askedInVain(fromId, chatId)
    return second
  } catch (error) {
    return { failure: unavailable(error) }
  }
}

function unavailable(error: unknown): Judged {
  const passing = transientErrorOf(error)
  return { verdict: 'signer-unavailable', ...(passing !== null && { passing }) }
}

async function verifyBy(
  opened: SignedContent,
  person: Awaited<ReturnType<KeyLookups['signer']>>,
  { claimed, parts }: { claimed: Claimed; parts: SignatureParts },
): Promise<Search> {
  if (person === null) return failed('unknown-signer')
  const certificate = signingCertificate(person)
  if (certificate === null) return failed('unknown-signer')
  const { userId } = person
  const fingerprint = person.fingerprint ?? ''
  if (parts.keyring.fingerprints.has(fingerprint)) return failed('unknown-signer', 'own-key')
  if (parts.people.isOthers({ userId, fingerprint })) {
    return failed('unknown-signer', 'other-person')
  }
  const { signal } = claimed
  const nowMs = parts.clock.expiryNowMs()
  const results = await parts.engine.verify(opened.signed, certificate, nowMs, signal)
  const valid = opened.signatures[results.indexOf('valid')]
  if (valid === undefined) return failed('bad-signature')
  if (isByOwnKey(valid, parts.keyring)) return failed('unknown-signer', 'own-key')
  const distrust = parts.trust.distrust(userId, fingerprint, claimed.chatId)
  if (distrust !== null) return failed('unknown-signer', distrust)
  return { valid, signer: fingerprint }
}

/** What was signed before the sender's certificate changed, by the one before. */
async function findFormer(
  opened: SignedContent,
  { fromId: userId, chatId, signal }: Claimed & { fromId: number },
  parts: SignatureParts,
): Promise<Search | null> {
  const nowMs = parts.clock.expiryNowMs()
  const former = parts.trust.formerOf(userId, chatId, nowMs)
  if (former === null) return null
  const { fingerprint, changedAtMs } = former
  if (parts.keyring.fingerprints.has(fingerprint)) return null
  if (parts.people.isOthers({ userId, fingerprint })) return null
  const certificate = await parts.directory.formerCertificate(fingerprint)
  if (certificate === null) return null
  const results = await parts.engine.verify(opened.signed, certificate, nowMs, signal)
  const valid = opened.signatures.find(
    ({ createdMs }, index) => results[index] === 'valid' && createdMs <= changedAtMs,
  )
  if (valid === undefined || isByOwnKey(valid, parts.keyring)) return null
  return { valid, signer: fingerprint, isFormer: true }
}

/** A key of ours verifies nobody else, whatever certificate it is put into. */
function isByOwnKey({ issuerKeyId }: SignatureClaim, { fingerprints }: OwnKeys): boolean {
  return issuerKeyId !== null && [...fingerprints].some((one) => one.endsWith(issuerKeyId))
}

/** Our own messages, against every key that was ever ours. */
async function findOwn(
  opened: SignedContent,
  { signal }: Claimed,
  parts: SignatureParts,
): Promise<Search> {
  for (const { certificate, fingerprint } of parts.keyring.all) {
    const nowMs = parts.clock.expiryNowMs()
    const results = await parts.engine.verify(opened.signed, certificate, nowMs, signal)
    const valid = opened.signatures[results.indexOf('valid')]
    if (valid !== undefined) return { valid, signer: fingerprint }
  }
  return failed('bad-signature')
}

/** A signature that names its recipients, none of which is ours (RFC 9580, 5.2.3.36). */
function isForOthers(claim: SignatureClaim, keyring: OwnKeys): boolean {
  if (claim.intended.length === 0) return false
  const own = new Set(keyring.unlocked.flatMap(({ fingerprints }) => fingerprints))
  return !claim.intended.some((fingerprint) => own.has(fingerprint))
}
