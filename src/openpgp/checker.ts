/** Repeats operations of native code with openpgp.js: in its own thread, behind all other work. */
import type {
  Engine,
  OpenedText,
  Signed,
  SignedAtLength,
  SignatureResult,
  UnlockedKey,
} from './engine.ts'
import type { Sealed } from './format/armor-writer.ts'
import { parseMessage } from './format/encrypted-message.ts'
import { ownIdsOf, type FoundKey, type ScannedRecipients } from './format/recipient-scan.ts'
import { withoutHolder } from './key-holder.ts'
import type { CheckResult } from './library/check.ts'
import type { Jobs } from './library/worker.ts'
import type { DatedRequest } from './native/sealer.ts'
import { Pool, type ThreadLoad } from './pool.ts'

/** How much is checked. */
export type CheckScope = 'sample' | 'all'

/** A check that ended; `skipped` where too many waited. */
export interface EngineCheck {
  work: 'sealed' | 'opened' | 'verified'
  result: CheckResult | 'skipped'
}

/** An engine that reports its threads, caches and checks. */
export interface MeasuredEngine extends Engine {
  /** Calls back with a job's name when its thread had to be killed. */
  onThreadKilled(listener: (job: string) => void): void
  /**
   * Calls back with false when no thread can be started, with true when one can again.
   * @returns a function that ends the calls
   */
  onAvailable: (listener: (isAvailable: boolean) => void) => () => void
  /**
   * Calls back once, if the library judges a certificate otherwise than it was read natively; from
   * then on it reads them all.
   */
  onDisagreement(listener: () => void): void
  /** Calls back when a check of native code ended. */
  onCheck(listener: (check: EngineCheck) => void): void
  /** Calls back once, when a check found a difference: from then on openpgp.js does all of the work. */
  onDifference: (listener: () => void) => () => void
  load(): {
    /** By kind of thread: those at work, and the jobs that wait for one. */
    threads: Record<string, ThreadLoad>
    /** How often a certificate was judged already; null where that is known elsewhere. */
    certificates: { hits: number; misses: number } | null
  }
}

/** One in so many of a kind is checked, and the first. */
const SAMPLE = 256
const KINDS_MAX = 1000
const WAITING_MAX = 256
const WAITING_CHARS = 8 * 1024 * 1024
/** After the message has left or reached the bot. */
const CHECK_AFTER_MS = 500
/** Certificates of a large group whose recipient packets are checked. */
const CERTIFICATES = 16

interface PendingCheck {
  work: EngineCheck['work']
  chars: number
  compare(): Promise<CheckResult>
}

/**
 * The session keys of a message for keys that holders have; their code is loaded for no others.
 * @throws KeyHolderUnavailableError
 */
export async function heldSessionKeys(
  { recipientPackets }: Pick<ScannedRecipients, 'recipientPackets'>,
  keys: readonly UnlockedKey[],
): Promise<FoundKey[]> {
  if (keys.every(({ holder }) => holder === undefined)) return []
  const { unwrapHeld } = await import('./native/held-key.ts')
  return await unwrapHeld(recipientPackets, keys)
}

/** The session keys for a key that a holder has: with them, all but its secret is checked. */
async function unwrapAgain(armored: string, key: UnlockedKey): Promise<FoundKey[]> {
  if (key.holder === undefined) return []
  const encrypted = parseMessage(armored, ownIdsOf([key]))
  return encrypted.outcome === 'encrypted' ? await heldSessionKeys(encrypted, [key]) : []
}

export class Checker implements AsyncDisposable {
  readonly #scope: CheckScope
  readonly #report: (check: EngineCheck) => void
  /** Its thread has the bot's key while it runs, and ends when idle. */
  readonly #thread = new Pool<Jobs>('library/worker', 1)
  readonly #seen = new Map<string, number>()
  readonly #waiting: PendingCheck[] = []
  #chars = 0
  #isClosed = false

  constructor(scope: CheckScope, report: (check: EngineCheck) => void) {
    this.#scope = scope
    this.#report = report
  }

  /** @param kind of its recipient list */
  sealed(request: DatedRequest, sealed: Sealed, kind: string): void {
    if (!this.#isChosen(`sealed ${kind}`)) return
    const { text, signer, atMs } = request
    const distinct = [...new Set(request.certificates)]
    const first = Math.floor(Math.random() * Math.max(1, distinct.length - CERTIFICATES + 1))
    const certificates = distinct.slice(first, first + CERTIFICATES)
    const of = distinct.length
    this.#add('sealed', sealed.chars + text.length, async () => {
      const { armored } = sealed
      const held = await unwrapAgain(armored, signer)
      const message = { armored, text, signer: withoutHolder(signer), atMs, certificates, of, held }
      return await this.#thread.run('compareSealed', [message])
    })
  }

  opened(armored: string, keys: UnlockedKey[], opened: OpenedText): void {
    const { isFile, signatures, openedWith } = opened
    const key = keys.find(({ fingerprint }) => fingerprint === openedWith)
    if (key === undefined || !this.#isChosen(`opened ${isFile} ${signatures.length}`)) return
    this.#add('opened', armored.length + opened.text.length, async () => {
      const held = await unwrapAgain(armored, key)
      return await this.#thread.run('compareOpened', [armored, withoutHolder(key), opened, held])
    })
  }

  verified(
    signed: Signed | SignedAtLength,
    certificate: string,
    found: { nowMs: number; results: SignatureResult[] },
  ): void {
    const length = 'document' in signed ? signed.document.length : 0
    if (!this.#isChosen(`verified ${found.results.join(' ')}`)) return
    this.#add('verified', certificate.length + length, () =>
      this.#thread.run('compareVerified', [signed, certificate, found]),
    )
  }

  /** All, or the first of a kind and every so many after it. */
  #isChosen(kind: string): boolean {
    if (this.#isClosed) return false
    if (this.#scope === 'all') return true
    const before = this.#seen.get(kind) ?? 0
    if (before > 0 || this.#seen.size < KINDS_MAX) this.#seen.set(kind, before + 1)
    return before % SAMPLE === 0
  }

  #add(work: EngineCheck['work'], chars: number, compare: PendingCheck['compare']): void {
    if (this.#waiting.length >= WAITING_MAX || this.#chars + chars > WAITING_CHARS) {
      return this.#report({ work, result: 'skipped' })
    }
    this.#chars += chars
    if (this.#waiting.push({ work, chars, compare }) > 1) return
    setTimeout(() => void this.#compareAll(), CHECK_AFTER_MS).unref()
  }

  async #compareAll(): Promise<void> {
    for (let [next] = this.#waiting; next !== undefined; [next] = this.#waiting) {
      const { work, chars } = next
      const compare = (): Promise<CheckResult> => next.compare().catch(() => 'unchecked' as const)
      let result = await compare()
      // once more, in case the machine was at fault
      if (result === 'differs') result = await compare()
      if (this.#isClosed) return
      this.#report({ work, result })
      this.#waiting.shift()
      this.#chars -= chars
    }
  }

  /** Checks nothing more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    this.#waiting.length = 0
    await this.#thread[Symbol.asyncDispose]()
  }
}
