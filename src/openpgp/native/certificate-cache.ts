/** Judges certificates once, and caches the result. */
import { NEVER_S } from '../bounds.ts'
import type { CertificateStatus } from '../engine.ts'
import { fingerprintOf, recipientAlgorithm } from '../crypto/public-key.ts'
import { recipientBytes } from '../size.ts'
import { CertificateStatuses, digestOf, holdsAt } from '../certificate-statuses.ts'
import type {
  CheckedCertificate,
  FoundCertificate,
  StatusRequest,
} from '../certificate-statuses.ts'
import type { CertificateReader, WorkPriority } from './threads.ts'
import { countedCache, sizedCache } from '../../util/caches.ts'
import { fitsRecord, packRecord, unpackRecord } from './certificate-record.ts'
import type { CertificateInfo } from '../certificate-info.ts'

export interface CertificateCacheParts {
  reader: CertificateReader
  priority: WorkPriority
  /** That of this machine by default. */
  nowMs?: () => number
  /** The library's judgement at a time, which is final. */
  judge(armored: string, atMs: number, known?: string): Promise<CheckedCertificate>
  /** Called once, when the library contradicts a native reading. */
  onDisagreement(): void
}

/** Certificates of the common shape that are kept, at 240 bytes each. */
const RECORDS = 100_000
/** Characters of the certificates that were asked for last: those of the two largest groups. */
const RECENT_CHARS = 2 * 1024 * 1024
/** Certificates in use whose native reading the library has not confirmed yet. */
const UNCONFIRMED_MAX = 4096
/** The library confirms a reading after its use, so that no caller waits for it. */
const CONFIRM_AFTER_MS = 500

/**
 * Judges armored certificates and remembers them by digest of their exact text. One of the common
 * shape is read natively and may be used at once; the library judges it too, right afterwards, and
 * if it ever contradicts one, no certificate is read natively any more. All others the library
 * judges first. Dates are compared on each use.
 */
export class CertificateCache implements Disposable {
  readonly #parts: CertificateCacheParts
  readonly nowMs: () => number
  /** By digest, both as strings of one byte a character, which need less memory than views. */
  readonly #records = countedCache<string, string>(RECORDS)
  readonly #others: CertificateStatuses
  /** By the text itself: a recent certificate usually recurs, and then needs no digest. */
  readonly #recent = sizedCache<{ info: CertificateInfo; epoch: number }>(RECENT_CHARS)
  readonly #statuses = new WeakMap<CertificateInfo, CertificateStatus>()
  readonly #unconfirmed: { armored: string; info: CertificateInfo; atMs: number }[] = []
  #readsNatively = true
  /** Changes whenever an earlier answer may not hold any more. */
  epoch = 0

  constructor(parts: CertificateCacheParts) {
    this.#parts = parts
    this.nowMs = parts.nowMs ?? ((): number => Date.now())
    this.#others = new CertificateStatuses((request, atMs) => this.#find(request, atMs), this.nowMs)
  }

  /** How often a certificate was judged already, or is being judged, and how often not. */
  get lookups(): { hits: number; misses: number } {
    return this.#others.lookups
  }

  /**
   * The info of a certificate that messages can be sealed to natively now; otherwise the pending
   * result of judging it.
   */
  infoOf(armored: string): CertificateInfo | Promise<CheckedCertificate> {
    const nowMs = this.nowMs()
    const recent = this.#recent.get(armored)
    if (recent?.epoch === this.epoch && holdsAt(recent.info, nowMs)) {
      this.lookups.hits++
      return recent.info
    }
    const digest = digestOf(armored)
    const record = this.#records.get(digest.toString('latin1'))
    const info = record === undefined ? null : unpackRecord(Buffer.from(record, 'latin1'))
    if (info === null || !holdsAt(info, nowMs)) return this.#others.of({ armored }, digest)
    this.lookups.hits++
    this.#recent.set(armored, { info, epoch: this.epoch }, { size: armored.length })
    return info
  }

  /**
   * A certificate's present status and info.
   * @param known an earlier copy whose revocations must not be forgotten
   */
  async check(armored: string, known?: string): Promise<CheckedCertificate> {
    if (known !== undefined) return await this.#others.of({ armored, known })
    const found = await this.infoOf(armored)
    if ('status' in found) return found
    const status = this.#statuses.get(found) ?? statusOf(found, armored)
    this.#statuses.set(found, status)
    return { status, info: found }
  }

  async #find({ armored, known }: StatusRequest, atMs: number): Promise<FoundCertificate> {
    const mayRead = this.#readsNatively && this.#unconfirmed.length < UNCONFIRMED_MAX
    if (known === undefined && mayRead) {
      const { priority, reader } = this.#parts
      const info = await priority.urgent(() => reader.read(armored))
      if (info !== null && this.#readsNatively) {
        this.#confirm({ armored, info, atMs })
        return this.#record(armored, info)
      }
    }
    const judged = await this.#parts.judge(armored, atMs, known)
    const { info } = judged
    const isRecorded = known === undefined && info !== null && isWhole(judged)
    return isRecorded ? this.#record(armored, info) : { checked: judged, isRecorded }
  }

  #record(armored: string, info: CertificateInfo): FoundCertificate {
    this.#records.set(digestOf(armored).toString('latin1'), packRecord(info).toString('latin1'))
    return { checked: { status: statusOf(info, armored), info }, isRecorded: true }
  }

  /** Has the library judge native readings, one after the other, behind all other jobs. */
  #confirm(one: { armored: string; info: CertificateInfo; atMs: number }): void {
    if (this.#unconfirmed.push(one) > 1) return
    setTimeout(() => void this.#confirmAll(), CONFIRM_AFTER_MS).unref()
  }

  async #confirmAll(): Promise<void> {
    for (let [next] = this.#unconfirmed; next !== undefined; [next] = this.#unconfirmed) {
      const { armored, info, atMs } = next
      const judged = await this.#parts.priority
        .background(() => this.#parts.judge(armored, atMs))
        .catch(() => null)
      const isSilent = judged === null || judged.status.unusable === 'deadline'
      if (!isSilent && !isSame(info, judged.info)) this.#distrust()
      this.#unconfirmed.shift()
    }
  }

  #distrust(): void {
    if (!this.#readsNatively) return
    this[Symbol.dispose]()
    this.#parts.onDisagreement()
  }

  /** Forgets native readings, and stops reading natively. */
  [Symbol.dispose](): void {
    this.#readsNatively = false
    this.#unconfirmed.length = 0
    this.#records.clear()
    this.epoch++
  }
}

/** The status of a certificate that this is known of; it expires when that ends. */
export function statusOf(info: CertificateInfo, armored: string): CertificateStatus {
  const { fingerprint, recipientKey, fromS, untilS } = info
  const kind = recipientAlgorithm(recipientKey.algorithm)
  return {
    fingerprint: Buffer.from(fingerprint).toString('hex'),
    unusable: null,
    notBeforeMs: fromS * 1000,
    expiresMs: untilS === NEVER_S ? Infinity : untilS * 1000,
    revocations: false,
    encryptionKeys: [fingerprintOf(recipientKey).toString('hex')],
    recipientBytes: recipientBytes(kind.info),
    algorithm: kind.label,
    armored,
  }
}

/** Whether a record holds all of it: the status follows from its info. */
function isWhole({ status, info }: CheckedCertificate): boolean {
  if (info === null || !info.hasNoOtherKey || status.revocations || !fitsRecord(info)) return false
  if (status.encryptionKeys.length > 1) return false
  return statusOf(info, status.armored).expiresMs === status.expiresMs
}

function isSame(read: CertificateInfo, judged: CertificateInfo | null): boolean {
  if (judged === null || !fitsRecord(judged)) return false
  return packRecord(read).equals(packRecord(judged))
}
