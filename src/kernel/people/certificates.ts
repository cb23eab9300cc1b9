import { hash } from 'node:crypto'
import { Refusal } from '../../errors.ts'
import type { CertificateCopy, Memory, Records } from '../memory.ts'
import type { CertificateStatus, Engine } from '../../openpgp/index.ts'
import type { KeyList } from '../lookups.ts'
import type { Person } from './person.ts'
import type { Journal, TrustChange } from './journal.ts'

/** Certificates kept whole with their revocations; they can be 64 KiB each. */
const MOST_WHOLE = 20_000
/** Of more, only the fact of a revocation is kept; beyond these, of none. */
const MOST_REVOKED = 250_000
/** Copies kept; none beyond, so that an invented certificate displaces none. */
const MOST_COPIES = 20_000
/** Copies held in memory while they cannot be written. */
const MOST_UNWRITTEN = 1000

export interface CertificatesParts {
  engine: Engine
  memory: Memory
  journal: Journal
  /** Instead of `MOST_WHOLE`, `MOST_REVOKED` and `MOST_COPIES`. */
  maxWhole?: number
  maxRevoked?: number
  maxCopies?: number
}

/**
 * Certificates, judged by the engine and merged with all statements of their owners. All calls that
 * wait throw Refusal `postern_store_unwritable`.
 */
export class Certificates {
  readonly #parts: Required<CertificatesParts>
  /** Fingerprints of those with revocations; the certificates rest on disk. */
  readonly #revoked = new Set<string>()
  /** Revocations that are not on disk yet: the copy to keep, the one in the store, who revoked it. */
  readonly #unwritten = new Map<string, { kept: string; known: string | null; userId: number }>()
  /** Digests of the copies that are kept, by fingerprint; the copies rest on disk. */
  readonly #copies = new Map<string, string>()
  /** Copies that are not on disk yet, and the digest of the stored one; null for none. */
  readonly #unwrittenCopies = new Map<string, { copy: CertificateCopy; before: string | null }>()

  private constructor(parts: CertificatesParts) {
    const bounds = { maxWhole: MOST_WHOLE, maxRevoked: MOST_REVOKED, maxCopies: MOST_COPIES }
    this.#parts = { ...bounds, ...parts }
  }

  static async load(parts: CertificatesParts): Promise<Certificates> {
    const { memory } = parts
    const certificates = new Certificates(parts)
    memory.writeFirst({
      isDue: () => certificates.#unwritten.size + certificates.#unwrittenCopies.size > 0,
      save: (records) => certificates.#saveUnwritten(records),
    })
    await memory.keep('certificates', async (records, fingerprints) => {
      for (const one of fingerprints ?? []) {
        if (!certificates.#unwrittenCopies.has(one)) certificates.#copies.delete(one)
      }
      for (const one of await records.certificates.of(fingerprints)) {
        const { fingerprint, copyDigest, isRevoked } = one
        if (isRevoked) certificates.#revoked.add(fingerprint)
        const isHeld = certificates.#unwrittenCopies.has(fingerprint)
        if (copyDigest !== null && !isHeld) certificates.#copies.set(fingerprint, copyDigest)
      }
    })
    return certificates
  }

  /** Whether a revocation of a certificate or a part is known that this status lacks. */
  isRevokedSince({ fingerprint, revocations, unusable }: CertificateStatus): boolean {
    if (revocations || unusable === 'revoked') return false
    return fingerprint !== null && this.#revoked.has(fingerprint)
  }

  isRevoked(fingerprint: string): boolean {
    return this.#revoked.has(fingerprint)
  }

  /** The status of an armored certificate now. @throws Error when the engine is gone */
  async judge(armored: string): Promise<CertificateStatus> {
    const certificateStatus = await this.#parts.engine.judge(armored)
    const known = await this.revokedCopyOf(certificateStatus.fingerprint)
    if (known === '') return { ...certificateStatus, unusable: 'revoked', armored: '' }
    const earlier = known ?? (await this.#newerCopyOf(certificateStatus, armored))
    return earlier === null ? certificateStatus : await this.#parts.engine.judge(armored, earlier)
  }

  /** The status of a certificate with the statements of another copy of it. */
  async merged(one: CertificateStatus, copy: CertificateStatus): Promise<CertificateStatus> {
    return await this.#parts.engine.judge(one.armored, copy.armored)
  }

  /** Judges again the people of a list whose certificates ended or were revoked since. */
  async refreshList(list: KeyList, nowMs: number): Promise<void> {
    const isRevoked = (one: Person): boolean => this.isRevokedSince(one.certificateStatus)
    if (nowMs < list.lapsesAtMs && !list.people.some(isRevoked)) return
    list.people = await Promise.all(list.people.map((one) => this.refreshPerson(one, nowMs)))
    list.lapsesAtMs = lapsesAtMs(list.people)
  }

  /** The person, judged again where the certificate ended or was revoked since. */
  async refreshPerson(person: Person, nowMs: number): Promise<Person> {
    const { unusable, certificateStatus: before } = person
    const isLapsed = unusable === null && nowMs >= before.expiresMs
    if (!isLapsed && !this.isRevokedSince(before)) return person
    const certificateStatus = await this.judge(before.armored)
    return { ...person, unusable: unusable ?? certificateStatus.unusable, certificateStatus }
  }

  /** The copy of a certificate; null for none, and for a revoked one. */
  async copyOf(fingerprint: string): Promise<string | null> {
    if (this.#revoked.has(fingerprint) || !this.#copies.has(fingerprint)) return null
    const query = ({ certificates }: Records) => certificates.copyOf(fingerprint)
    const unwritten = this.#unwrittenCopies.get(fingerprint)?.copy.copy
    return unwritten ?? (await this.#ifOf(fingerprint, await this.#parts.memory.read(query)))
  }

  /** A stored copy; null where it has another fingerprint than its name. */
  async #ifOf(name: string, copy: string | null): Promise<string | null> {
    if (!copy) return null
    const { fingerprint } = await this.#parts.engine.judge(copy)
    return fingerprint === name.split(' ')[0] ? copy : null
  }

  /** Keeps copies with all statements of their owners, from the call on, also when this rejects. */
  async keepCopies(statuses: readonly CertificateStatus[]): Promise<void> {
    for (const { fingerprint, armored, revocations, isNews } of statuses) {
      if (fingerprint === null || revocations || armored === '') continue
      const copy = { fingerprint, copy: armored, copyDigest: digestOf(armored) }
      const before = this.#copies.get(fingerprint) ?? null
      const hasRoom =
        this.#copies.size < this.#parts.maxCopies && this.#unwrittenCopies.size < MOST_UNWRITTEN
      const isKept = before === null ? hasRoom : isNews && before !== copy.copyDigest
      if (isKept !== true) continue
      const held = this.#unwrittenCopies.get(fingerprint) ?? { before }
      this.#unwrittenCopies.set(fingerprint, { ...held, copy })
      this.#copies.set(fingerprint, copy.copyDigest)
    }
    if (this.#unwrittenCopies.size > 0) await this.#parts.memory.settle()
  }

  async #newerCopyOf({ fingerprint }: CertificateStatus, armored: string): Promise<string | null> {
    const digest = fingerprint === null ? undefined : this.#copies.get(fingerprint)
    if (fingerprint === null || digest === undefined || digest === digestOf(armored)) return null
    return await this.copyOf(fingerprint)
  }

  /**
   * Remembers revocations of a certificate, or of a certification (`revocationOf`), from the call on,
   * also when this rejects.
   * @param userId whose certificate it is
   */
  async rememberRevoked(
    o: Pick<CertificateStatus, 'fingerprint' | 'revocations' | 'armored'>,
    userId: number,
  ): Promise<void> {
    const { fingerprint, revocations, armored } = o
    if (!revocations || fingerprint === null) return
    const isKnown = this.#revoked.has(fingerprint)
    if (!isKnown && this.#revoked.size >= this.#parts.maxRevoked) {
      throw new Refusal('postern_store_unwritable', 'no more revocations can be remembered')
    }
    const kept = isKnown || this.#revoked.size < this.#parts.maxWhole ? armored : ''
    const hold = (one: { kept: string; known: string | null }): void => {
      this.#revoked.add(fingerprint)
      const first = this.#unwritten.get(fingerprint) ?? { ...one, userId }
      this.#unwritten.set(fingerprint, { ...first, kept: one.kept })
    }
    try {
      const known = await this.#keptRevokedCopyOf(fingerprint)
      if (known !== armored && known !== '') hold({ kept, known })
    } catch (error) {
      hold({ kept: '', known: null })
      await this.#parts.memory.settle()
      throw error
    }
    if (this.#unwritten.has(fingerprint)) await this.#parts.memory.settle()
  }

  async #saveUnwritten(records: Records): Promise<() => void> {
    const written = [...this.#unwritten]
    const changes: TrustChange[] = []
    for (const [fingerprint, { kept, known, userId }] of written) {
      const now = await records.certificates.revokedCopyOf(fingerprint)
      if (now === kept) continue
      // of two sidecars with different revocations at once, only the fact is kept
      await records.certificates.setRevokedCopy(fingerprint, now === known ? kept : '')
      changes.push(revocationOf(fingerprint, userId))
    }
    const copies = [...this.#unwrittenCopies]
    const first = copies.flatMap(([, { copy, before }]) => (before === null ? [copy] : []))
    if (first.length > 0) await records.certificates.addCopies(first)
    for (const [, { copy, before }] of copies) {
      if (before !== null) await records.certificates.replaceCopy(copy, before)
    }
    const announce = await this.#parts.journal.append(records, changes)
    return () => {
      for (const [fingerprint, one] of copies) {
        const held = this.#unwrittenCopies.get(fingerprint)
        if (held === one) this.#unwrittenCopies.delete(fingerprint)
        else if (held !== undefined) held.before = one.copy.copyDigest
      }
      for (const [fingerprint, one] of written) {
        if (this.#unwritten.get(fingerprint) === one) this.#unwritten.delete(fingerprint)
      }
      announce()
    }
  }

  /** As `CertificateRecords.revokedCopyOf`, also before it is on disk; empty for a false copy. */
  async revokedCopyOf(name: string | null): Promise<string | null> {
    if (name === null) return null
    const kept = await this.#keptRevokedCopyOf(name)
    return kept && ((await this.#ifOf(name, kept)) ?? '')
  }

  async #keptRevokedCopyOf(name: string): Promise<string | null> {
    if (!this.#revoked.has(name)) return null
    const query = ({ certificates }: Records) => certificates.revokedCopyOf(name)
    return this.#unwritten.get(name)?.kept ?? (await this.#parts.memory.read(query)) ?? ''
  }
}

/** @param name of a certificate: its fingerprint; of a certification: that of its certifier too */
function revocationOf(name: string, userId: number): TrustChange {
  const [fingerprint = '', by] = name.split(' ')
  if (by === undefined) return { kind: 'key-revoked', userId, detail: { fingerprint } }
  return { kind: 'certification-revoked', userId, detail: { fingerprint, by } }
}

const digestOf = (armored: string): string => hash('sha256', armored, 'base64')

/** When the first of the certificates that can be sealed to ends, ms since the epoch. */
export function lapsesAtMs(people: readonly Person[]): number {
  const usable = people.filter(({ unusable }) => unusable === null)
  return Math.min(...usable.map(({ certificateStatus }) => certificateStatus.expiresMs))
}
