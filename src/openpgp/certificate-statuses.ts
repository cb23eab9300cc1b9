/** Statuses of certificates, cached by the digest of their exact text. */
import { hash } from 'node:crypto'
import { sizedCache } from '../util/caches.ts'
import { NEVER_S } from './bounds.ts'
import type { CertificateInfo } from './certificate-info.ts'
import type { CertificateStatus } from './engine.ts'
import type { UnusableReason } from './failure-reasons.ts'

/** A certificate's status; `info` is null where only the library may use the certificate. */
export interface CheckedCertificate {
  status: CertificateStatus
  info: CertificateInfo | null
}

/** Whether it holds at a time, in ms. */
export function holdsAt(
  { fromS, untilS }: { fromS: number; untilS: number },
  atMs: number,
): boolean {
  const atS = Math.floor(atMs / 1000)
  return fromS <= atS && (atS < untilS || untilS === NEVER_S)
}

/** The status of a certificate of which nothing is known but that it cannot be used. */
export const unusableStatus = (armored: string, unusable: UnusableReason): CertificateStatus => ({
  fingerprint: null,
  unusable,
  notBeforeMs: 0,
  expiresMs: Infinity,
  revocations: false,
  encryptionKeys: [],
  recipientBytes: { aes256: 0, aes128: 0 },
  algorithm: 'unknown',
  armored,
})

/** Characters of all certificates that are kept together. */
const KEPT_CHARS = 32 * 1024 * 1024
/** How long a certificate that overran the deadline is not tried again. */
const DEADLINE_KEPT_MS = 300_000
/**
 * Bytes of the SHA-256 of its text that a certificate is found by: as many as a fingerprint has, on
 * which all trust in it rests anyway.
 */
export const DIGEST_BYTES = 20

interface CachedStatus extends CheckedCertificate {
  judgedAtMs: number
}

/** A certificate to judge. */
export interface StatusRequest {
  armored: string
  /** An earlier copy whose revocations must not be forgotten. */
  known?: string | undefined
}

/** A judged certificate, and whether the judge remembers it. */
export interface FoundCertificate {
  checked: CheckedCertificate
  isRecorded: boolean
}

type Judge = (request: StatusRequest, atMs: number) => Promise<FoundCertificate>

/** Judges certificates once. Times are compared on each use. */
export class CertificateStatuses {
  readonly #judge: Judge
  readonly #nowMs: () => number
  readonly #kept = sizedCache<CachedStatus>(KEPT_CHARS)
  readonly #inFlight = new Map<string, Promise<CheckedCertificate>>()
  /** How often a certificate was judged already, or is being judged, and how often not. */
  readonly lookups = { hits: 0, misses: 0 }

  constructor(judge: Judge, nowMs: () => number) {
    this.#judge = judge
    this.#nowMs = nowMs
  }

  /** A certificate's present status. @param digest of its text, where that is known */
  async of(
    request: StatusRequest,
    digest: Buffer = digestOf(request.armored),
  ): Promise<CheckedCertificate> {
    const name = nameOf(digest, request.known)
    const kept = this.#kept.get(name)
    const isKept = kept !== undefined && isCurrent(kept, this.#nowMs())
    const flight = this.#inFlight.get(name)
    this.lookups[isKept || flight !== undefined ? 'hits' : 'misses']++
    if (isKept) return kept
    if (flight !== undefined) return await flight
    const judging = this.#find(request, name)
    this.#inFlight.set(name, judging)
    try {
      return await judging
    } finally {
      this.#inFlight.delete(name)
    }
  }

  async #find(request: StatusRequest, name: string): Promise<CheckedCertificate> {
    const judgedAtMs = this.#nowMs()
    const { checked, isRecorded } = await this.#judge(request, judgedAtMs)
    const chars = request.armored.length + checked.status.armored.length
    if (!isRecorded) this.#kept.set(name, { ...checked, judgedAtMs }, { size: Math.max(1, chars) })
    return checked
  }
}

/** The cache key of a certificate. */
export const digestOf = (armored: string): Buffer =>
  hash('sha256', armored, 'buffer').subarray(0, DIGEST_BYTES)

function nameOf(digest: Buffer, known: string | undefined): string {
  const name = digest.toString('latin1')
  return known === undefined ? name : name + digestOf(known).toString('latin1')
}

/** A status holds until a time that it names is reached. */
function isCurrent({ status, info, judgedAtMs }: CachedStatus, nowMs: number): boolean {
  const { unusable, notBeforeMs, expiresMs } = status
  if (unusable === 'deadline') return nowMs < judgedAtMs + DEADLINE_KEPT_MS
  if (unusable === 'not-yet-valid') return nowMs < notBeforeMs
  if (info !== null && !holdsAt(info, nowMs)) return false
  return unusable !== null || nowMs < expiresMs
}
