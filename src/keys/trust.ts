/** Whose certificate is believed: the policy, and what the operator says of people. */
import { Breath } from '../breath.ts'
import { OperatorError } from '../errors.ts'
import type { Store } from '../store/store.ts'
import type { Journal } from './journal.ts'
import type { People } from './people.ts'
import { Pins, savePin, type Pin } from './pins.ts'
import { Policies, type TrustPolicy } from './policies.ts'

/** Why a person is neither sealed to nor believed until the operator speaks. */
export type Distrust = 'blocked' | 'key-changed' | 'not-accepted'

export interface TrustParts {
  store: Store
  journal: Journal
  people: People
  /** Setting `trust.policy`. */
  policy: TrustPolicy
}

export class Trust {
  readonly #journal: Journal
  readonly #people: People
  readonly #pins: Pins
  readonly policies: Policies

  private constructor({ journal, people }: TrustParts, pins: Pins, policies: Policies) {
    this.#journal = journal
    this.#people = people
    this.#pins = pins
    this.policies = policies
  }

  static async load(parts: TrustParts): Promise<Trust> {
    const { store, journal, policy } = parts
    const policies = await Policies.load({ store, journal, setting: policy })
    return new Trust(parts, await Pins.load(store), policies)
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
    const pin = this.#pins.get(userId)
    if (pin?.standing === 'blocked') return 'blocked'
    const isPinned = pin?.fingerprint === fingerprint
    if (pin?.standing === 'verified') return isPinned ? null : 'key-changed'
    const policy = this.policies.for(chatId)
    if (policy === 'accept') return null
    if (policy === 'pinned' && pin?.standing !== 'accepted') return 'not-accepted'
    return isPinned ? null : 'key-changed'
  }

  isBlocked(userId: number): boolean {
    return this.#pins.get(userId)?.standing === 'blocked'
  }

  /**
   * The service lists these certificates: a new one is bound to its person, the first of a person
   * is pinned; a change is written down and told. All of it in one write. Somebody listed with two
   * at once is not pinned: such a list is refused anyway.
   * @throws Refusal `postern_store_unwritable`
   */
  async saw(listed: readonly { userId: number; fingerprint: string }[]): Promise<void> {
    const nowMs = Date.now()
    const pins = changedPins(listed, (userId) => this.#pins.get(userId), nowMs)
    const bound = this.#people.unbound(listed)
    if (pins.length + bound.length === 0) return
    const changes = pins.flatMap((pin) => {
      const from = this.#pins.get(pin.userId)?.listed ?? pin.fingerprint
      const to = pin.listed
      if (from === null || to === null || from === to) return []
      const detail = { from, to, standing: pin.standing }
      return [{ kind: 'key-changed' as const, userId: pin.userId, detail }]
    })
    const breath = new Breath()
    await this.#journal.record(changes, async (db) => {
      await this.#people.saveBound(db, bound)
      for (const pin of pins) {
        await breath.take()
        await savePin(db, pin)
      }
    })
    this.#people.bound(bound)
    for (const pin of pins) this.#pins.took(pin)
  }

  /**
   * The operator takes a person's certificate as the service lists it now, and lets them begin
   * anew: what they were known to sign is forgotten, and the certificate is theirs alone.
   * @param fingerprint what the operator looked at; absent: whatever is listed
   * @returns the pin as it stands now
   * @throws OperatorError `refused` for somebody never seen, or when another one is listed by now
   */
  async accept(userId: number, fingerprint?: string): Promise<Pin> {
    const pin = this.#pins.get(userId)
    const listed = pin?.listed ?? null
    if (pin === undefined || listed === null) throw neverSeen(userId)
    if (fingerprint !== undefined && readFingerprint(fingerprint) !== listed) {
      throw new OperatorError(
        'refused',
        `the service lists ${listed} for person ${userId}, which is another one`,
        'ask the person which fingerprint is theirs; nothing was changed',
      )
    }
    const isVerified = pin.standing === 'verified' && pin.fingerprint === listed
    const standing = isVerified ? 'verified' : 'accepted'
    return await this.#stand({ ...pin, fingerprint: listed, standing }, 'accepted')
  }

  /**
   * The operator has compared a fingerprint with the person's own word: they are sealed to under
   * this one alone, from now on.
   * @param fingerprint 40 hexadecimal characters; blanks between and either case are fine
   * @throws OperatorError `usage` when it is none
   */
  async verify(userId: number, fingerprint: string): Promise<Pin> {
    const pin = this.#pins.get(userId) ?? blank(userId)
    const verified = { ...pin, fingerprint: readFingerprint(fingerprint) }
    return await this.#stand({ ...verified, standing: 'verified' }, 'verified')
  }

  /** Nothing is sealed to a person, and nothing believed of them, until accepted or verified. */
  async block(userId: number): Promise<Pin> {
    const known = this.#pins.get(userId) ?? blank(userId)
    const pin: Pin = { ...known, standing: 'blocked', sinceMs: Date.now() }
    await this.#journal.record([{ kind: 'blocked', userId, detail: {} }], (db) => savePin(db, pin))
    this.#pins.took(pin)
    return pin
  }

  async #stand(given: Pin, kind: 'accepted' | 'verified'): Promise<Pin> {
    const pin: Pin = { ...given, sinceMs: Date.now() }
    const { userId } = pin
    const fingerprint = pin.fingerprint ?? ''
    await this.#journal.record([{ kind, userId, detail: { fingerprint } }], async (db) => {
      await savePin(db, pin)
      await this.#people.saveAnew(db, { userId, fingerprint })
    })
    this.#people.startedAnew({ userId, fingerprint })
    this.#pins.took(pin)
    return pin
  }
}

const blank = (userId: number): Pin => ({
  userId,
  fingerprint: null,
  sinceMs: 0,
  standing: 'seen',
  listed: null,
  listedAtMs: null,
})

function changedPins(
  listed: readonly { userId: number; fingerprint: string }[],
  known: (userId: number) => Pin | undefined,
  nowMs: number,
): Pin[] {
  const byPerson = new Map<number, Set<string>>()
  for (const { userId, fingerprint } of listed) {
    byPerson.set(userId, (byPerson.get(userId) ?? new Set()).add(fingerprint))
  }
  return [...byPerson].flatMap(([userId, fingerprints]) => {
    const [fingerprint, second] = fingerprints
    const pin = known(userId)
    if (fingerprint === undefined || second !== undefined || pin?.listed === fingerprint) return []
    const seen = { ...(pin ?? blank(userId)), listed: fingerprint, listedAtMs: nowMs }
    return [pin === undefined ? { ...seen, fingerprint, sinceMs: nowMs } : seen]
  })
}

function readFingerprint(text: string): string {
  const fingerprint = text.replaceAll(/\s/g, '').toLowerCase()
  if (/^[0-9a-f]{40}$/.test(fingerprint)) return fingerprint
  throw new OperatorError(
    'usage',
    'a fingerprint is 40 hexadecimal characters',
    'copy it from the person’s app; blanks between are fine',
  )
}

function neverSeen(userId: number): OperatorError {
  return new OperatorError(
    'refused',
    `no certificate of person ${userId} was ever seen`,
    '`postern trust list` shows everybody whom we know; or compare fingerprints and use `postern trust verify`',
  )
}
