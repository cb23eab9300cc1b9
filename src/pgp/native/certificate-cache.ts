/** Certificates are judged once: the gate between a text and what is sealed to or verified with. */
import { hash } from 'node:crypto'
import { holdsAt, judgementOf, type CertificateFacts, type Judged } from './certificate-info.ts'
import type { Precedence } from './work-priority.ts'
import type { Reader } from './certificate-reader.ts'
import { DIGEST_BYTES, recordOf } from './packed-record.ts'
import { RecordTable } from './record-table.ts'
import { RecentMap } from './recent-map.ts'

export interface GateParts {
  reader: Reader
  precedence: Precedence
  /** The library's judgement at a time, which is the last word. */
  judge(armored: string, atMs: number, known?: string): Promise<Judged>
  /** Told once, when the library did not say what was read natively. */
  disagreed(): void
}

/** Certificates of the common shape that are kept, at 130 bytes each. */
const RECORDS = 100_000
/** Characters of all other certificates that are kept together. */
const OTHER_CHARS = 32 * 1024 * 1024
/** Characters of the certificates that were asked for last: those of the two largest groups. */
const RECENT_CHARS = 2 * 1024 * 1024
/** How long a certificate that overran the deadline is not tried again. */
const DEADLINE_KEPT_MS = 300_000
/** Certificates that may be in use and wait for the library's word. */
const UNCONFIRMED_MAX = 4096
/** After what was read is in use: whoever waits for it goes first. */
const CONFIRM_AFTER_MS = 500

interface Kept extends Judged {
  judgedAtMs: number
}

interface Asked {
  armored: string
  known?: string | undefined
  digest: Buffer
}

/**
 * Judges armored certificates and remembers them by digest of their exact text. One of the common
 * shape is read natively and may be used at once; the library judges it too, right afterwards, and
 * if it ever says otherwise, nothing is read natively any more. All others the library judges
 * first. What has a time is looked at on each use.
 */
export class Gate implements Disposable {
  readonly #parts: GateParts
  readonly #records = new RecordTable(RECORDS)
  readonly #others = new RecentMap<Kept>(OTHER_CHARS)
  /** Who is asked for once is asked for again, with the same text: no digest is needed then. */
  readonly #recent = new RecentMap<{ facts: CertificateFacts; epoch: number }>(RECENT_CHARS)
  readonly #inFlight = new Map<string, Promise<Judged>>()
  readonly #unconfirmed: { armored: string; facts: CertificateFacts; atMs: number }[] = []
  /** How often a certificate was judged already, or is being judged, and how often not. */
  readonly lookups = { hits: 0, misses: 0 }
  #readsNatively = true
  #epoch = 0

  constructor(parts: GateParts) {
    this.#parts = parts
  }

  /** Changes whenever what was said before may not hold any more. */
  get epoch(): number {
    return this.#epoch
  }

  /**
   * The facts of a certificate that can be sealed to natively now; where they are not known, what
   * will be said of it.
   */
  ask(armored: string): CertificateFacts | Promise<Judged> {
    const nowMs = Date.now()
    const remembered = this.#remembered(armored, nowMs)
    if (remembered !== null) return remembered
    const digest = digestOf(armored)
    return this.#held(armored, digest, nowMs) ?? this.#say({ armored, digest, nowMs })
  }

  /**
   * What a certificate is now.
   * @param known an earlier copy whose revocations must not be forgotten
   */
  async look(armored: string, known?: string): Promise<Judged> {
    if (known !== undefined) {
      return await this.#say({ armored, known, digest: digestOf(armored), nowMs: Date.now() })
    }
    const found = await this.ask(armored)
    return 'judgement' in found ? found : { judgement: judgementOf(found, armored), facts: found }
  }

  #remembered(armored: string, nowMs: number): CertificateFacts | null {
    const recent = this.#recent.get(armored)
    if (recent?.epoch !== this.#epoch || !holdsAt(recent.facts, nowMs)) return null
    this.lookups.hits++
    return recent.facts
  }

  #held(armored: string, digest: Buffer, nowMs: number): CertificateFacts | null {
    const facts = this.#records.get(digest)
    if (facts === null || !holdsAt(facts, nowMs)) return null
    this.lookups.hits++
    this.#recent.set(armored, { facts, epoch: this.#epoch }, armored.length)
    return facts
  }

  async #say({ armored, known, digest, nowMs }: Asked & { nowMs: number }): Promise<Judged> {
    const name = nameOf(digest, known)
    const kept = this.#others.get(name)
    const isKept = kept !== undefined && isCurrent(kept, nowMs)
    const flight = this.#inFlight.get(name)
    this.lookups[isKept || flight !== undefined ? 'hits' : 'misses']++
    if (isKept) return kept
    if (flight !== undefined) return await flight
    const judging = this.#judge({ armored, known, digest, name })
    this.#inFlight.set(name, judging)
    try {
      return await judging
    } finally {
      this.#inFlight.delete(name)
    }
  }

  async #judge({ armored, known, digest, name }: Asked & { name: string }): Promise<Judged> {
    const atMs = Date.now()
    if (known === undefined && this.#mayRead()) {
      const { precedence, reader } = this.#parts
      const facts = await precedence.first(() => reader.read(armored))
      if (facts !== null && this.#readsNatively) {
        this.#records.set(digest, facts)
        this.#confirm({ armored, facts, atMs })
        return { judgement: judgementOf(facts, armored), facts }
      }
    }
    const judged = await this.#parts.judge(armored, atMs, known)
    if (known === undefined && judged.facts !== null && isWhole(judged)) {
      this.#records.set(digest, judged.facts)
      return { judgement: judgementOf(judged.facts, armored), facts: judged.facts }
    }
    const chars = armored.length + judged.judgement.armored.length
    this.#others.set(name, { ...judged, judgedAtMs: atMs }, chars)
    return judged
  }

  #mayRead(): boolean {
    return this.#readsNatively && this.#unconfirmed.length < UNCONFIRMED_MAX
  }

  /** Has the library judge what was read natively, one after the other, behind everything else. */
  #confirm(one: { armored: string; facts: CertificateFacts; atMs: number }): void {
    if (this.#unconfirmed.push(one) > 1) return
    setTimeout(() => void this.#confirmAll(), CONFIRM_AFTER_MS).unref()
  }

  async #confirmAll(): Promise<void> {
    for (let [next] = this.#unconfirmed; next !== undefined; [next] = this.#unconfirmed) {
      const { armored, facts, atMs } = next
      const judged = await this.#parts.precedence
        .behind(() => this.#parts.judge(armored, atMs))
        .catch(() => null)
      const isSilent = judged === null || judged.judgement.unusable === 'deadline'
      if (!isSilent && !isSame(facts, judged.facts)) this.#distrust()
      this.#unconfirmed.shift()
    }
  }

  #distrust(): void {
    if (!this.#readsNatively) return
    this[Symbol.dispose]()
    this.#parts.disagreed()
  }

  /** Forgets what was read natively, and reads nothing so any more. */
  [Symbol.dispose](): void {
    this.#readsNatively = false
    this.#unconfirmed.length = 0
    this.#records.clear()
    this.#epoch++
  }
}

function digestOf(armored: string): Buffer {
  return hash('sha256', armored, 'buffer').subarray(0, DIGEST_BYTES)
}

function nameOf(digest: Buffer, known: string | undefined): string {
  const name = digest.toString('latin1')
  return known === undefined ? name : name + digestOf(known).toString('latin1')
}

/** Whether a record says all of it: the judgement is the one that its facts give. */
function isWhole({ judgement, facts }: Judged): boolean {
  if (facts === null || !facts.hasNoOtherKey || judgement.revocations) return false
  return judgementOf(facts, judgement.armored).expiresMs === judgement.expiresMs
}

/** A judgement holds until a time that it names is reached. */
function isCurrent({ judgement, facts, judgedAtMs }: Kept, nowMs: number): boolean {
  const { unusable, notBeforeMs, expiresMs } = judgement
  if (unusable === 'deadline') return nowMs < judgedAtMs + DEADLINE_KEPT_MS
  if (unusable === 'not-yet-valid') return nowMs < notBeforeMs
  if (facts !== null && !holdsAt(facts, nowMs)) return false
  return unusable !== null || nowMs < expiresMs
}

function isSame(read: CertificateFacts, judged: CertificateFacts | null): boolean {
  if (judged === null) return false
  return Buffer.from(recordOf(read)).equals(recordOf(judged))
}
