/** What signatures of the common form state (RFC 9580, 5.2.4); all others are the library's. */
import type { Signed, SignedAtLength } from '../engine.ts'
import { TAG, packetAt } from '../format/packets.ts'
import { BOUNDS } from '../bounds.ts'
import { canonicalText } from '../format/signature-claim.ts'
import { fingerprintOf, type SigningKey } from '../crypto/public-key.ts'
import type { Statement } from '../crypto/ed25519.ts'
import { holdsAt, type CertificateFacts } from './certificate-info.ts'
import {
  KIND,
  createdS,
  isIssuedBy,
  readSignatureForm,
  statementOf,
  statementOn,
  type SignatureForm,
} from './signature-packet.ts'

const BINARY = 0
const TEXT = 1
const NO_DIGEST = Buffer.alloc(0)
/**
 * Subpackets that may stand on it: those that make it, a note that is not critical, the intended
 * recipients, which are judged elsewhere, and the signer's user id, which means nothing here.
 */
const HASHED = new Set<number>([
  KIND.created,
  KIND.issuer,
  KIND.notation,
  KIND.issuerFingerprint,
  28,
  35,
])
const UNHASHED = new Set<number>([KIND.issuer, KIND.issuerFingerprint])

/** What is already known of a signature, or what is to be verified. */
export type Claimed = 'bad' | 'other-key' | Statement

/**
 * Judges signatures against a certificate's facts, as `verify` of the library does, all but whether
 * the key made them.
 * @param nowMs our clock
 * @returns in the order of the signatures; null where any of them is not of the common form
 */
export function claimedOf(
  signed: Signed | SignedAtLength,
  facts: CertificateFacts,
  nowMs: number,
): Claimed[] | null {
  const signer = signerOf(facts)
  const all: Claimed[] = []
  for (const [index, packet] of signed.signatures.entries()) {
    const form = formOf(packet)
    const over = 'document' in signed ? signed : { digest: signed.digests[index] ?? NO_DIGEST }
    const claimed = form && claimOf(form, over, { facts, signer, nowMs })
    if (!claimed) return null
    all.push(claimed)
  }
  return all
}

/** Fingerprint of the key that signs for the certificate. */
function signerOf({ fingerprint, primarySigns, signing }: CertificateFacts): Uint8Array | null {
  if (signing === null) return null
  return primarySigns ? fingerprint : fingerprintOf(signing)
}

/** Key ids of all keys in the certificate. */
function keyIdsOf(facts: CertificateFacts): string[] {
  const { fingerprint, sealing, signing } = facts
  const subkeys = [sealing, ...(signing === null || facts.primarySigns ? [] : [signing])]
  return [Buffer.from(fingerprint), ...subkeys.map(fingerprintOf)].map((one) =>
    one.toString('hex', 12),
  )
}

interface Context {
  facts: CertificateFacts
  signer: Uint8Array | null
  nowMs: number
}

/** What a signature was made over: the document, or what that hashes to. */
type Over = { document: Uint8Array } | { digest: Uint8Array }

function claimOf(
  form: SignatureForm,
  over: Over,
  { facts, signer, nowMs }: Context,
): Claimed | null {
  const madeS = createdS(form)
  if (!isCommon(form) || madeS === null) return null
  const { signing } = facts
  if (signing !== null && signer !== null && isIssuedBy(form, signer)) {
    if (madeS * 1000 > nowMs + BOUNDS.clockToleranceMs) return 'bad'
    if (!holdsAt(facts, madeS * 1000)) return null
    return statement(form, over, signing) ?? 'bad'
  }
  const named = issuerOf(form)
  if (named === null || !facts.hasNoOtherKey) return null
  return keyIdsOf(facts).includes(named) ? null : 'other-key'
}

function statement(form: SignatureForm, over: Over, key: SigningKey): Statement | null {
  if ('digest' in over) return statementOn(form, over.digest, key)
  const { document } = over
  return statementOf(form, form.type === TEXT ? canonicalText(document) : document, key)
}

function isCommon({ type, hashed, unhashed }: SignatureForm): boolean {
  if (type !== BINARY && type !== TEXT) return false
  const isOdd =
    hashed.some(({ kind, isCritical }) => {
      return !HASHED.has(kind) || (kind === KIND.notation && isCritical)
    }) || unhashed.some(({ kind }) => !UNHASHED.has(kind))
  return !isOdd
}

/** The one key id that it names; null when it names several, none, or not in a common way. */
function issuerOf({ hashed, unhashed }: SignatureForm): string | null {
  const names = new Set<string | null>()
  for (const { kind, bytes } of [...hashed, ...unhashed]) {
    if (kind === KIND.issuer) names.add(bytes.length === 8 ? bytes.toString('hex') : null)
    if (kind !== KIND.issuerFingerprint) continue
    names.add(bytes.length === 21 && bytes[0] === 4 ? bytes.toString('hex', 13) : null)
  }
  const [name = null, ...others] = names
  return others.length === 0 ? name : null
}

function formOf(packet: Uint8Array): SignatureForm | null {
  if (packet.length === 0) return null
  const { tag, body } = packetAt(packet, 0)
  return tag === TAG.signature ? readSignatureForm(body) : null
}
