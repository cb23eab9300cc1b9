/** Whose certificates are trusted, by listings of the service and decisions of the operator. */
import { RETENTION_MS } from '../opening/seen-rules.ts'
import type {
  FormerCertificate,
  KeyChange,
  Memory,
  Pin,
  Records,
  ToldWith,
  TrustStanding,
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

/** Why a certificate is not used until the operator decides. */
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

/** How many people are remembered: of others, nothing is sealed or verified. */
const MOST_PEOPLE = 250_000
/** People named in one entry of the journal. */
const NAMED = 100

export class Trust {
  readonly #parts: TrustParts
  readonly #pins: Pins
  readonly #refusals = new Listeners()
  /** Calls back when a person is one too many. */
  readonly onFull = this.#refusals.add
  readonly policies: Policies
  readonly decisions: Decisions
  readonly #keyChanges: KeyChanges
  /** Listings that are not on disk yet. */
  readonly #unwritten = new Map<number, UnwrittenListing>()
  /** How often something was listed anew since the start. */
  #changes = 0

  private constructor(parts: TrustParts, policies: Policies, pins: Pins, keyChanges: KeyChanges) {
    this.#parts = parts
    this.#keyChanges = keyChanges
    this.#pins = pins
    this.policies = policies
    this.decisions = new Decisions({ ...parts, pins })
  }

  static async load(parts: TrustParts): Promise<Trust> {
    const { memory, journal, policy, people } = parts
    const policies = await Policies.load({ memory, journal, setting: policy })
    const pins = await Pins.load(memory, people.forgotten)
    const keyChanges = await KeyChanges.load(memory)
    const trust = new Trust(parts, policies, pins, keyChanges)
    memory.writeFirst({
      isDue: () => trust.#unwritten.size > 0,
      save: (records) => trust.#saveUnwritten(records),
    })
    return trust
  }

  /** Changes whenever an answer of this class, or of `People` about owners, may have changed. */
  get epoch(): number {
    const { people } = this.#parts
    return this.#changes + this.#pins.changes + this.policies.changes + people.changes
  }

  /** Every pin, by person. */
  get all(): Pin[] {
    return this.#pins.all
  }

  /**
   * Why a person's certificate may not be used in a chat; null when it may. The changed key of a
   * verified person is refused under every policy.
   */
  distrust(userId: number, fingerprint: string | null, chatId: number): Distrust | null {
    const pin = this.pinOf(userId)
    if (pin?.standing === 'blocked') return 'blocked'
    const isPinned = pin?.fingerprint === fingerprint
    if (pin?.standing === 'verified') return isPinned ? null : 'key-changed'
    const policy = this.policies.for(chatId)
    if (policy === 'accept') return null
    if (policy === 'pinned' && pin?.standing !== 'accepted') return 'not-accepted'
    return isPinned ? null : 'key-changed'
  }

  /**
   * The former certificate of a person, while it still verifies signatures of before the change; null
   * after 72 hours, for a blocked person, under the policy `pinned`, where the operator has verified
   * another, where it was never pinned, or where somebody is listed with it now.
   * @param nowMs by which ends are counted (`JudgingClock.expiryNowMs`)
   */
  formerOf(userId: number, chatId: number, nowMs: number): FormerCertificate | null {
    const pin = this.#pins.get(userId)
    const former = pin?.former
    // the service may queue an older message for so long
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

  /** By the operator's decision, else `seen`; undefined for an unknown person. */
  standingOf(userId: number): TrustStanding | undefined {
    return this.#pins.get(userId)?.standing
  }

  /** Whether a certificate is disputed: listed for several people, without an owner by the operator. */
  isShared(fingerprint: string): boolean {
    if (this.#parts.people.ownerOf(fingerprint) !== undefined) return false
    if (this.#unwritten.size === 0) return this.#pins.claimsOn(fingerprint) > 1
    return this.#claimantsOf(fingerprint).size > 1
  }

  /** The people listed with a certificate, unwritten sightings included. */
  #claimantsOf(fingerprint: string): Set<number> {
    const claimants = new Set(this.#pins.claimantsOf(fingerprint))
    for (const [userId, { last }] of this.#unwritten) {
      if (last === fingerprint) claimants.add(userId)
      else claimants.delete(userId)
    }
    return claimants
  }

  /** The pin of a person, with listings that are not on disk yet. */
  pinOf(userId: number): Pin | undefined {
    const pin = this.#pins.get(userId)
    const seen = this.#unwritten.get(userId)
    if (seen === undefined) return pin
    return { ...(pin ?? { ...blankPin(userId), fingerprint: seen.first }), listed: seen.last }
  }

  /** The others who are listed with a person's disputed certificate, by id. */
  sharersOf({ userId, listed }: Pin): number[] {
    if (listed === null || !this.isShared(listed)) return []
    return this.#pins.claimantsOf(listed).filter((other) => other !== userId)
  }

  /** Whether a person is remembered. */
  isRemembered(userId: number): boolean {
    return this.pinOf(userId) !== undefined
  }

  /**
   * Records listings and their changes in one write. They count from the call on, also when this rejects.
   * @throws Refusal `postern_store_unwritable`
   */
  async saw(listed: readonly Listing[]): Promise<void> {
    this.#hold(listed)
    await this.#parts.memory.fresh().catch(async (error: unknown) => {
      await this.#parts.memory.settle()
      throw error
    })
    // against the listings of other sidecars
    const tooMany = this.#hold(listed)
    if (tooMany > 0) this.#refusals.emit()
    if (listed.some(({ userId }) => this.#unwritten.has(userId))) await this.#parts.memory.settle()
  }

  /** @returns how many people are too many */
  #hold(listed: readonly Listing[]): number {
    const { maxPeople = MOST_PEOPLE } = this.#parts
    const room = maxPeople - this.#pins.size - this.#unwritten.size
    for (const one of listed) this.#pins.recall(one)
    const { fresh, tooMany } = newListings(listed, (userId) => this.pinOf(userId), room)
    for (const { userId, fingerprint: last } of fresh) {
      this.#unwritten.set(userId, { first: this.#unwritten.get(userId)?.first ?? last, last })
    }
    if (fresh.length > 0) this.#changes++
    return tooMany
  }

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

  /** As `KeyChanges.tell`; none under the policy `pinned`, where the operator decides on each. */
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
