/** Whose certificates are trusted, by listings of the service and decisions of the operator. */
import { RETENTION_MS } from '../opening/seen-rules.ts'
import type { FormerCertificate, Memory, Pin, Records, TrustPolicy } from '../memory.ts'
import { Listeners } from '../../util/listeners.ts'
import type { Journal, TrustChange } from './journal.ts'
import { Decisions } from './decisions.ts'
import { Policies } from './policies.ts'
import { believedPin, pinAfterListing, type FirstUseParts } from './first-use.ts'
import type { People } from './people.ts'
import { blankPin, newDisputes, newListings, Pins } from './pins.ts'
import type { Listing, UnwrittenListing } from './pins.ts'

/** Why a certificate is not used until the operator decides. */
export type Distrust = 'blocked' | 'key-changed' | 'not-accepted'

export interface TrustParts {
  memory: Memory
  journal: Journal
  people: People
  /** Setting `trust.policy`. */
  policy: TrustPolicy
  clocks: FirstUseParts['clocks']
  /** Only the operator decides when not given. */
  firstUse?: FirstUseParts['firstUse']
  /** `MOST_PEOPLE` when not given. */
  maxPeople?: number
}

/** How many people are remembered: of others, nothing is sealed or verified. */
const MOST_PEOPLE = 250_000
/** People named in one entry of the journal. */
const NAMED = 100

export class Trust {
  readonly #parts: TrustParts & FirstUseParts
  readonly #pins: Pins
  readonly #refusals = new Listeners()
  /** Calls back when a person is one too many. */
  readonly onFull = this.#refusals.add
  readonly policies: Policies
  readonly decisions: Decisions
  /** Listings that are not on disk yet. */
  readonly #unwritten = new Map<number, UnwrittenListing>()
  /** Changes whenever an answer of this class, or of `People` about owners, may have changed. */
  readonly epoch: People['epoch']

  private constructor(parts: TrustParts, policies: Policies, pins: Pins) {
    this.#parts = { firstUse: { afterMs: null, authorities: [] }, ...parts }
    this.#pins = pins
    this.epoch = parts.people.epoch
    this.policies = policies
    this.decisions = new Decisions({ ...parts, pins })
  }

  static async load(parts: TrustParts): Promise<Trust> {
    const { memory, journal, policy, people } = parts
    const policies = await Policies.load({ memory, journal, setting: policy, epoch: people.epoch })
    const pins = await Pins.load(memory, people)
    const trust = new Trust(parts, policies, pins)
    memory.writeFirst({
      isDue: () => trust.#unwritten.size > 0,
      save: (records) => trust.#saveUnwritten(records),
    })
    return trust
  }

  /** Every pin, by person, as it is believed now. */
  get all(): Pin[] {
    return this.#pins.all.map((pin) => believedPin(pin, this.#parts))
  }

  /**
   * Why a person's certificate may not be used in a chat; null when it may. The changed key of a
   * verified person is refused under every policy.
   */
  distrust(userId: number, fingerprint: string | null, chatId: number): Distrust | null {
    const pin = this.believedOf(userId)
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
    const pin = believedPin(this.#pins.get(userId), this.#parts)
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

  /** By the operator's decision, an authority's, else `seen`; undefined for an unknown person. */
  standingOf(userId: number): Pin['standing'] | undefined {
    return believedPin(this.#pins.get(userId), this.#parts)?.standing
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

  /** The same as it is believed now: by an authority, where the operator has not decided. */
  believedOf(userId: number): Pin | undefined {
    return believedPin(this.pinOf(userId), this.#parts)
  }

  /** The others who are listed with a person's disputed certificate, by id. */
  sharersOf({ userId, listed }: Pin): number[] {
    if (listed === null || !this.isShared(listed)) return []
    return this.#pins.claimantsOf(listed).filter((other) => other !== userId)
  }

  isRemembered(userId: number): boolean {
    return this.pinOf(userId) !== undefined
  }

  /**
   * Records listings and their changes in one write. They count from the call on, also when this rejects.
   * @throws Refusal `postern_store_unwritable`
   */
  async saw(listed: readonly Listing[]): Promise<void> {
    const { memory } = this.#parts
    const isAnyHeld = (): boolean => listed.some(({ userId }) => this.#unwritten.has(userId))
    this.#hold(listed)
    // a write reads the listings of other sidecars first
    await (isAnyHeld() ? memory.settle() : memory.fresh())
    const tooMany = this.#hold(listed)
    if (tooMany > 0) this.#refusals.emit()
    if (isAnyHeld()) await memory.settle()
  }

  /** @returns how many people are too many */
  #hold(listed: readonly Listing[]): number {
    const { maxPeople = MOST_PEOPLE } = this.#parts
    const room = maxPeople - this.#pins.size - this.#unwritten.size
    for (const one of listed) this.#pins.recall(one)
    const { fresh, tooMany } = newListings(listed, (userId) => this.pinOf(userId), {
      room,
      isNews: ({ userId, fingerprint: last, evidence }, known) =>
        this.#after(userId, known, { first: last, last, evidence }) !== null,
    })
    for (const { userId, fingerprint: last, evidence } of fresh) {
      const first = this.#unwritten.get(userId)?.first ?? last
      this.#unwritten.set(userId, { first, last, evidence })
    }
    if (fresh.length > 0) this.epoch.value++
    return tooMany
  }

  #after(userId: number, known: Pin | undefined, seen: UnwrittenListing) {
    const mayTake: Policies['mayTake'] = (standing) => this.policies.mayTake(standing)
    return pinAfterListing({ userId, known, seen }, { ...this.#parts, mayTake })
  }

  async #saveUnwritten(records: Records): Promise<() => void> {
    const written = [...this.#unwritten]
    const changed = written.flatMap(
      ([userId, seen]) => this.#after(userId, this.#pins.get(userId), seen) ?? [],
    )
    const pins = changed.map(({ pin }) => pin)
    const changes = changed.flatMap((one) => one.changes)
    const keyChanges = changes
      .filter((one) => one.kind === 'key-changed')
      .map(({ userId, detail: { from, to } }) => ({ userId, from, to }))
    const disputes = newDisputes(pins, this.#pins).map(({ fingerprint, people }): TrustChange => {
      const owner = this.#parts.people.ownerOf(fingerprint) ?? null
      const detail = { fingerprint, people: people.slice(0, NAMED), owner }
      return { kind: 'certificate-shared', detail }
    })
    await records.pins.save(pins)
    await records.keyChanges.save(keyChanges)
    const announce = await this.#parts.journal.append(records, [...changes, ...disputes])
    return () => {
      for (const [userId, seen] of written) {
        if (this.#unwritten.get(userId) === seen) this.#unwritten.delete(userId)
      }
      for (const pin of pins) this.#pins.set(pin)
      announce()
    }
  }
}
