/** Certificates are judged once, and what each can be used for is remembered. */
import type { CertificateStatus } from '../engine.ts'
import {
  CertificateStatuses,
  digestOf,
  holdsAt,
  type CheckedCertificate,
  type FoundCertificate,
  type StatusRequest,
} from '../certificate-statuses.ts'
import { statusOf, type CertificateInfo } from './certificate-info.ts'
import type { CertificateReader, WorkPriority } from './threads.ts'
import { RecentMap } from '../../util/recent-map.ts'
import { RecordTable, packRecord } from './record-table.ts'

export interface CertificateCacheParts {
  reader: CertificateReader
  priority: WorkPriority
  /** That of this machine by default. */
  nowMs?: () => number
  /** What the library finds at a time, which is the last word. */
  judge(armored: string, atMs: number, known?: string): Promise<CheckedCertificate>
  /** Called once, when the library did not say what was read natively. */
  onDisagreement(): void
}

/** Certificates of the common shape that are kept, at 130 bytes each. */
const RECORDS = 100_000
/** Characters of the certificates that were asked for last: those of the two largest groups. */
const RECENT_CHARS = 2 * 1024 * 1024
/** Certificates that may be in use and wait for the library's word. */
const UNCONFIRMED_MAX = 4096
/** After what was read is in use: whoever waits for it goes first. */
const CONFIRM_AFTER_MS = 500

/**
 * Judges armored certificates and remembers them by digest of their exact text. One of the common
 * shape is read natively and may be used at once; the library judges it too, right afterwards, and
 * if it ever says otherwise, nothing is read natively any more. All others the library judges
 * first. What has a time is looked at on each use.
 */
export class CertificateCache implements Disposable {
  readonly #parts: CertificateCacheParts
  readonly nowMs: () => number
  readonly #records = new RecordTable(RECORDS)
  readonly #others: CertificateStatuses
  /** Who is asked for once is asked for again, with the same text: no digest is needed then. */
  readonly #recent = new RecentMap<{ info: CertificateInfo; epoch: number }>(RECENT_CHARS)
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
   * What is known of a certificate that can be sealed to natively now; where nothing is, what it
   * will be found to be.
   */
  infoOf(armored: string): CertificateInfo | Promise<CheckedCertificate> {
    const nowMs = this.nowMs()
    const recent = this.#recentOf(armored, nowMs)
    if (recent !== null) return recent
    const digest = digestOf(armored)
    return this.#recorded(armored, digest, nowMs) ?? this.#others.of({ armored }, digest)
  }

  /**
   * What a certificate is now.
   * @param known an earlier copy whose revocations must not be forgotten
   */
  async check(armored: string, known?: string): Promise<CheckedCertificate> {
    if (known !== undefined) {
      return await this.#others.of({ armored, known })
    }
    const found = await this.infoOf(armored)
    if ('status' in found) return found
    const status = this.#statuses.get(found) ?? statusOf(found, armored)
    this.#statuses.set(found, status)
    return { status, info: found }
  }

  #recentOf(armored: string, nowMs: number): CertificateInfo | null {
    const recent = this.#recent.get(armored)
    if (recent?.epoch !== this.epoch || !holdsAt(recent.info, nowMs)) return null
    this.lookups.hits++
    return recent.info
  }

  #recorded(armored: string, digest: Buffer, nowMs: number): CertificateInfo | null {
    const info = this.#records.get(digest)
    if (info === null || !holdsAt(info, nowMs)) return null
    this.lookups.hits++
    this.#recent.set(armored, { info, epoch: this.epoch }, armored.length)
    return info
  }

  async #find({ armored, known }: StatusRequest, atMs: number): Promise<FoundCertificate> {
    if (known === undefined && this.#mayRead()) {
      const { priority, reader } = this.#parts
      const info = await priority.urgent(() => reader.read(armored))
      if (info !== null && this.#readsNatively) {
        this.#records.set(digestOf(armored), info)
        this.#confirm({ armored, info, atMs })
        return { checked: { status: statusOf(info, armored), info }, isRecorded: true }
      }
    }
    const judged = await this.#parts.judge(armored, atMs, known)
    const { info } = judged
    const isRecorded = known === undefined && info !== null && isWhole(judged)
    if (!isRecorded) return { checked: judged, isRecorded }
    this.#records.set(digestOf(armored), info)
    return { checked: { status: statusOf(info, armored), info }, isRecorded }
  }

  #mayRead(): boolean {
    return this.#readsNatively && this.#unconfirmed.length < UNCONFIRMED_MAX
  }

  /** Has the library judge what was read natively, one after the other, behind everything else. */
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

  /** Forgets what was read natively, and reads nothing so any more. */
  [Symbol.dispose](): void {
    this.#readsNatively = false
    this.#unconfirmed.length = 0
    this.#records.clear()
    this.epoch++
  }
}

/** Whether a record says all of it: the status is the one that its info gives. */
function isWhole({ status, info }: CheckedCertificate): boolean {
  if (info === null || !info.hasNoOtherKey || status.revocations) return false
  if (status.encryptionKeys.length > 1) return false
  return statusOf(info, status.armored).expiresMs === status.expiresMs
}

function isSame(read: CertificateInfo, judged: CertificateInfo | null): boolean {
  if (judged === null) return false
  return Buffer.from(packRecord(read)).equals(packRecord(judged))
}
