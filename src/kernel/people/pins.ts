import type { CertificateStatus } from '../../openpgp/index.ts'
import type { Memory, Pin, Vouched } from '../memory.ts'
import type { People } from './people.ts'

export const blankPin = (userId: number): Pin => ({
  userId,
  fingerprint: null,
  sinceMs: 0,
  standing: 'seen',
  listed: null,
  listedAtMs: null,
})

type PinnedPeople = Pick<People, 'epoch' | 'forgotten'>

/** Every pin, in memory and in the store. */
export class Pins {
  readonly #pins = new Map<number, Pin>()
  /** Who is listed with a certificate: one person, or several for a disputed one. */
  readonly #listedBy = new Map<string, number | Set<number>>()
  readonly #people: PinnedPeople

  private constructor(people: PinnedPeople) {
    this.#people = people
  }

  static async load(memory: Memory, people: PinnedPeople): Promise<Pins> {
    const pins = new Pins(people)
    await memory.keep('pins', async (records, userIds) => {
      const found = await records.pins.of(userIds)
      for (const userId of userIds ?? []) pins.#delete(Number(userId))
      for (const pin of found) pins.set(pin)
    })
    return pins
  }

  get(userId: number): Pin | undefined {
    return this.#pins.get(userId) ?? this.#people.forgotten?.pinOf(userId)
  }

  /** Puts a listed certificate in place of its keyed hash, where the person was forgotten with it. */
  recall({ userId, fingerprint }: Listing): void {
    const pin = this.get(userId)
    if (pin === undefined || fingerprint === null) return
    const recalled = this.#people.forgotten?.recalled(pin, fingerprint)
    if (recalled !== undefined) this.set(recalled)
  }

  #delete(userId: number): void {
    const { listed = null } = this.#pins.get(userId) ?? {}
    if (listed !== null) this.#unclaim(listed, userId)
    if (this.#pins.delete(userId)) this.#people.epoch.value++
  }

  get size(): number {
    return this.#pins.size
  }

  get all(): Pin[] {
    return [...this.#pins.values()].sort((a, b) => a.userId - b.userId)
  }

  /** How many people are listed with a certificate now. */
  claimsOn(fingerprint: string): number {
    const listedBy = this.#listedBy.get(fingerprint)
    return typeof listedBy === 'object' ? listedBy.size : Number(listedBy !== undefined)
  }

  /** Who is listed with a certificate now, by id. */
  claimantsOf(fingerprint: string): number[] {
    const listedBy = this.#listedBy.get(fingerprint) ?? []
    return typeof listedBy === 'number' ? [listedBy] : [...listedBy].sort((a, b) => a - b)
  }

  set(pin: Pin): void {
    this.#people.epoch.value++
    const before = this.#pins.get(pin.userId)?.listed ?? null
    // one string for both, of which there are two hundred thousand
    const isSame = pin.listed !== null && pin.listed === pin.fingerprint
    this.#pins.set(pin.userId, isSame ? { ...pin, listed: pin.fingerprint } : pin)
    if (before === pin.listed) return
    if (before !== null) this.#unclaim(before, pin.userId)
    if (pin.listed !== null) this.#claim(isSame ? pin.fingerprint! : pin.listed, pin.userId)
  }

  #claim(fingerprint: string, userId: number): void {
    const listedBy = this.#listedBy.get(fingerprint)
    if (listedBy === undefined) this.#listedBy.set(fingerprint, userId)
    else if (typeof listedBy !== 'number') listedBy.add(userId)
    else this.#listedBy.set(fingerprint, new Set([listedBy, userId]))
  }

  #unclaim(fingerprint: string, userId: number): void {
    const listedBy = this.#listedBy.get(fingerprint)
    if (typeof listedBy === 'object') listedBy.delete(userId)
    if (listedBy === userId || this.claimsOn(fingerprint) === 0) this.#listedBy.delete(fingerprint)
  }
}

/** What certifications (RFC 9580, 5.2.1.4) prove of a certificate as a person's; absent: nothing. */
export interface Evidence {
  /** By an authority of the settings; null for none. */
  vouched: Vouched | null
  /** Authorities that revoked a certification of it, or certified it for somebody else since. */
  withdrawnBy: readonly string[]
  /** The person's certificate of before that certifies it, for a user id of its own; null for none. */
  follows: string | null
  /** Revocations to remember, for `Certificates.rememberRevoked`. */
  revocations: readonly Pick<CertificateStatus, 'fingerprint' | 'revocations' | 'armored'>[]
}

/** @throws EngineUnavailableError */
export type EvidenceLookup = (
  o: { userId: number; pin: Pin | undefined; certificateStatus: CertificateStatus },
  certificates: Record<'copyOf' | 'revokedCopyOf', (name: string) => Promise<string | null>>,
) => Promise<Evidence>

/** The listing of a person; null: no readable certificate. */
export interface Listing {
  userId: number
  fingerprint: string | null
  evidence?: Evidence | undefined
}

/** The first and the last listing of a person since the pin was written. */
export interface UnwrittenListing {
  first: string | null
  last: string | null
  /** Of the last. */
  evidence?: Evidence | undefined
}

/**
 * The listings that change something. A person listed with two certificates at once is left out: such
 * a list is refused.
 * @param o `room`: how many more people can be remembered; `isNews`: whether the certificate that was
 *   listed already changes anything
 * @returns `tooMany`: people beyond the room
 */
export function newListings(
  listed: readonly Listing[],
  pinOf: (userId: number) => Pin | undefined,
  { room, isNews }: { room: number; isNews: (listing: Listing, pin: Pin) => boolean },
): { fresh: Listing[]; tooMany: number } {
  const byPerson = Map.groupBy(listed, ({ userId }) => userId)
  let [left, tooMany] = [room, 0]
  const fresh = [...byPerson.values()].flatMap(([one, ...others]) => {
    if (one === undefined || others.some((it) => it.fingerprint !== one.fingerprint)) return []
    const pin = pinOf(one.userId)
    const isListed = (pin?.listed ?? null) === one.fingerprint
    if (isListed && (pin === undefined || !isNews(one, pin))) return []
    if (pin !== undefined || left-- > 0) return [one]
    tooMany++
    return []
  })
  return { fresh, tooMany }
}

/**
 * The pin of a person after a listing; null when the listing changes nothing. The first certificate is
 * pinned; the one listed before, or withdrawn, is the former certificate.
 */
export function pinAfter(
  userId: number,
  pin: Pin | undefined,
  o: Pick<UnwrittenListing, 'first' | 'last'> & { nowMs: number; latestMs?: number },
): Pin | null {
  const { first, last, nowMs, latestMs = nowMs } = o
  if (pin?.listed === last) return null
  const before = pin ?? { ...blankPin(userId), fingerprint: first, sinceMs: nowMs }
  const after = { ...before, listed: last, listedAtMs: last === null ? null : latestMs }
  const { listed, fingerprint } = before
  if (listed === null) return after
  const wasPinned = listed === fingerprint
  return { ...after, former: { fingerprint: listed, changedAtMs: nowMs, wasPinned } }
}

/** The disputes that begin with these pins, each with everybody listed, by id. */
export function newDisputes(
  changed: readonly Pin[],
  pins: Pick<Pins, 'claimsOn' | 'claimantsOf'>,
): { fingerprint: string; people: number[] }[] {
  const byFingerprint = Map.groupBy(changed, ({ listed }) => listed)
  return [...byFingerprint].flatMap(([fingerprint, claimants]) => {
    if (fingerprint === null) return []
    const before = pins.claimsOn(fingerprint)
    if (before > 1 || before + claimants.length < 2) return []
    const people = new Set(pins.claimantsOf(fingerprint))
    for (const pin of changed) {
      if (pin.listed === fingerprint) people.add(pin.userId)
      else people.delete(pin.userId)
    }
    if (people.size < 2) return []
    return [{ fingerprint, people: [...people].sort((a, b) => a - b) }]
  })
}
