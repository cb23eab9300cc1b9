/** Whose certificate is believed, by what the service lists and what the operator decided. */
import { RETENTION_MS } from '../opening/seen-rules.ts'
import type {
  FormerCertificate,
  KeyChange,
  Memory,
  Pin,
  Records,
  ToldWith,
  TrustPolicy,
} from '../memory.ts'
import { Listeners } from '../../util/listeners.ts'
import type { Journal, TrustChange } from './journal.ts'
import { Decisions, Policies } from './decisions.ts'
import { KeyChanges } from './key-changes.ts'
import type { People } from './people.ts'
import {
  blankPin,
  newDisputes,
  newListings,
  pinAfter,
  Pins,
  type Listing,
  type UnwrittenListing,
} from './pins.ts'

/** Why a person is neither sealed to nor believed until the operator decides. */
export type Distrust = 'blocked' | 'key-changed' | 'not-accepted'

export interface TrustParts {
  memory: Memory
  journal: Journal
  people: People
  /** Setting `trust.policy`. */
  policy: TrustPolicy
  /** `earliestMs` by the earlier of our clock and the service's, so that nothing ends too soon. */
  clocks: { earliestMs(): number }
  /** `MOST_PEOPLE` when not given. */
  maxPeople?: number
}

/**
 * How many people are remembered. Forgetting one would loosen what is known of them, so beyond
 * these nobody new is learned: nothing is sealed to them, and nothing of theirs is verified.
 */
const MOST_PEOPLE = 250_000
/** People named in one entry of the journal. */
const NAMED = 100

export class Trust {
  readonly #parts: TrustParts
  readonly #pins: Pins
  readonly #refusals = new Listeners()
  readonly policies: Policies
  readonly decisions: Decisions
  readonly #keyChanges: KeyChanges
  /** Listings that are not on disk yet. */
  readonly #unwritten = new Map<number, UnwrittenListing>()
  /** How often something was listed anew since the start. */
  #changes = 0

  private constructor(
    parts: TrustParts,
    { pins, policies, keyChanges }: { pins: Pins; policies: Policies; keyChanges: KeyChanges },
  ) {
    this.#parts = parts
    this.#keyChanges = keyChanges
    this.#pins = pins
    this.policies = policies
    this.decisions = new Decisions({ ...parts, pins })
  }

  /** Calls back when a person could not be remembered because there are too many. */
  onFull(listener: () => void): void {
    this.#refusals.add(listener)
  }

  static async load(parts: TrustParts): Promise<Trust> {
    const { memory, journal, policy } = parts
    const policies = await Policies.load({ memory, journal, setting: policy })
    const pins = await Pins.load(memory)
    const keyChanges = await KeyChanges.load(memory)
    const trust = new Trust(parts, { pins, policies, keyChanges })
    memory.writeFirst({
      get isDue() {
        return trust.#unwritten.size > 0
      },
      save: (records) => trust.#saveUnwritten(records),
    })
    return trust
  }

  /** Changes whenever an answer of this class, or of `People` about owners, may have changed. */
  get epoch(): number {
    const { people } = this.#parts
    return this.#changes + this.#pins.changes + this.policies.changes + people.changes
  }

  /** Everybody whom we know, by person. */
  get all(): Pin[] {
    return this.#pins.all
  }

  /**
   * Whether a person's certificate may be used in a chat; null when it may. A verified person
   * whose key changed never is, whatever the policy.
   */
  distrust(userId: number, fingerprint: string | null, chatId: number): Distrust | null {
    const pin = this.#pin(userId)
    if (pin?.standing === 'blocked') return 'blocked'
    const isPinned = pin?.fingerprint === fingerprint
    if (pin?.standing === 'verified') return isPinned ? null : 'key-changed'
    const policy = this.policies.for(chatId)
    if (policy === 'accept') return null
    if (policy === 'pinned' && pin?.standing !== 'accepted') return 'not-accepted'
    return isPinned ? null : 'key-changed'
  }

  /**
   * The certificate that a person was listed with before, while it still verifies what was signed
   * before the change was seen; null when it does not: 72 hours are over, the person is blocked, the
   * policy is `pinned`, the operator has verified another one, it was never accepted, or somebody
   * is listed with it now.
   * @param nowMs by which ends are counted (`JudgingClock.expiryNowMs`)
   */
  formerOf(userId: number, chatId: number, nowMs: number): FormerCertificate | null {
    const pin = this.#pins.get(userId)
    const former = pin?.former
    // what was signed before the change may be queued for as long as the service retains it
    if (former === undefined || nowMs >= former.changedAtMs + RETENTION_MS) return null
    // a listing that is not on disk yet ends it, and makes none
    const seen = this.#unwritten.get(userId)
    if (seen !== undefined && pin?.listed !== null && seen.last !== pin?.listed) return null
    if (this.#claimantsOf(former.fingerprint).size > 0) return null
    const { standing, fingerprint } = pin ?? {}
    if (standing === 'blocked') return null
    if (standing === 'verified' && fingerprint !== former.fingerprint) return null
    const policy = this.policies.for(chatId)
    if (policy === 'accept') return former
    return policy === 'first-use' && former.wasPinned ? former : null
  }

  isBlocked(userId: number): boolean {
    return this.#pins.get(userId)?.standing === 'blocked'
  }

  /**
   * Whether a certificate is disputed: several people are listed with it, and the operator has
   * named no owner. Neither being listed first nor a signature proves one.
   */
  isShared(fingerprint: string): boolean {
    if (this.#parts.people.ownerOf(fingerprint) !== undefined) return false
    if (this.#unwritten.size === 0) return this.#pins.claimsOn(fingerprint) > 1
    return this.#claimantsOf(fingerprint).size > 1
  }

  /** Who is listed with a certificate, with what is not on disk yet. */
  #claimantsOf(fingerprint: string): Set<number> {
    const claimants = new Set(this.#pins.claimantsOf(fingerprint))
    for (const [userId, { last }] of this.#unwritten) {
      if (last === fingerprint) claimants.add(userId)
      else claimants.delete(userId)
    }
    return claimants
  }

  /** What is known of a person, with what is not on disk yet. */
  #pin(userId: number): Pin | undefined {
    const pin = this.#pins.get(userId)
    const seen = this.#unwritten.get(userId)
    if (seen === undefined) return pin
    return { ...(pin ?? { ...blankPin(userId), fingerprint: seen.first }), listed: seen.last }
  }

  /** Who else is listed with a person's certificate while it is disputed, by id. */
  sharersOf({ userId, listed }: Pin): number[] {
    if (listed === null || !this.isShared(listed)) return []
    return this.#pins.claimantsOf(listed).filter((other) => other !== userId)
  }

  /** Whether anything is remembered of a person. Nothing is when there are too many. */
  isRemembered(userId: number): boolean {
    return this.#pin(userId) !== undefined
  }

  /** Whether the operator has compared the fingerprint with the person. */
  isVerified(userId: number): boolean {
    return this.#pins.get(userId)?.standing === 'verified'
  }

  /** Whether the operator has said which certificate is theirs. */
  isNamed(userId: number): boolean {
    const standing = this.#pins.get(userId)?.standing
    return standing === 'accepted' || standing === 'verified'
  }

  /**
   * The service lists these certificates, or none for somebody. Pins the first of a person, and
   * writes changes and shared certificates to the journal, all in one write. It counts from the call
   * on, also when this rejects.
   * @throws Refusal `postern_store_unwritable`
   */
  async saw(listed: readonly Listing[]): Promise<void> {
    this.#hold(listed)
    await this.#parts.memory.fresh().catch(async (error: unknown) => {
      await this.#parts.memory.settle()
      throw error
    })
    // compared with what others have written by now
    const tooMany = this.#hold(listed)
    if (tooMany > 0) this.#refusals.emit()
    if (listed.some(({ userId }) => this.#unwritten.has(userId))) await this.#parts.memory.settle()
  }

  /** @returns of how many people nothing can be remembered */
  #hold(listed: readonly Listing[]): number {
    const { maxPeople = MOST_PEOPLE } = this.#parts
    const room = maxPeople - this.#pins.size - this.#unwritten.size
    const { fresh, tooMany } = newListings(listed, (userId) => this.#pin(userId), room)
    for (const { userId, fingerprint: last } of fresh) {
      this.#unwritten.set(userId, { first: this.#unwritten.get(userId)?.first ?? last, last })
    }
    if (fresh.length > 0) this.#changes++
    return tooMany
  }

  /** Writes what the listings change, by all that is known as of this write. */
  async #saveUnwritten(records: Records): Promise<() => void> {
    const written = [...this.#unwritten]
    const nowMs = this.#parts.clocks.earliestMs()
    const pins = written.flatMap(
      ([userId, one]) => pinAfter(userId, this.#pins.get(userId), { ...one, nowMs }) ?? [],
    )
    const certificateChanges = pins.flatMap((pin) => this.#changeOf(pin))
    const keyChanges = certificateChanges
      .filter((one) => one.kind === 'key-changed')
      .map(({ userId, detail: { from, to } }) => ({ userId, from, to }))
    const disputes = newDisputes(pins, this.#pins).map(({ fingerprint, people }): TrustChange => {
      const owner = this.#parts.people.ownerOf(fingerprint) ?? null
      const detail = { fingerprint, people: people.slice(0, NAMED), owner }
      return { kind: 'certificate-shared', detail }
    })
    await records.pins.save(pins)
    await records.keyChanges.save(keyChanges)
    const announce = await this.#parts.journal.append(records, [...certificateChanges, ...disputes])
    return () => {
      for (const change of keyChanges) this.#keyChanges.saved(change)
      for (const [userId, seen] of written) {
        if (this.#unwritten.get(userId) === seen) this.#unwritten.delete(userId)
      }
      for (const pin of pins) this.#pins.set(pin)
      announce()
    }
  }

  /**
   * Changed certificates of people that the bot is told of now, in a chat where the policy is not
   * `pinned`: there the operator decides on each.
   * @param o `by` what, and `key` which update or send
   */
  async keyChangesToTell(
    userIds: Iterable<number>,
    o: { chatId: number; by: ToldWith; key: string },
  ): Promise<KeyChange[]> {
    if (this.policies.for(o.chatId) === 'pinned') return []
    return await this.#keyChanges.tell(userIds, o.by, o.key)
  }

  #changeOf(pin: Pin): TrustChange[] {
    const { userId, listed: to, standing } = pin
    const before = this.#pins.get(userId)
    const from = before === undefined ? pin.fingerprint : (before.listed ?? before.fingerprint)
    if (from === null || from === to) return []
    return to === null
      ? [{ kind: 'key-withdrawn', userId, detail: { from, standing } }]
      : [{ kind: 'key-changed', userId, detail: { from, to, standing } }]
  }
}
