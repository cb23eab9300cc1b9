/** What a listing by the service changes of what is known of people. Values in, values out. */
import type { Pin } from '../memory.ts'
import { blankPin, type Pins } from './pins.ts'

/** What the service lists for a person; null: no certificate that could be read. */
export interface Listing {
  userId: number
  fingerprint: string | null
}

/**
 * The pins that a listing changes: the first certificate of a person is pinned, any other one that
 * is listed is their claim from now on, and the claim before it is forgotten. Somebody listed with
 * two at once is left as they were: such a list is refused anyway.
 * @param o `room` is how many more people can be remembered
 * @returns `tooMany`: people of whom nothing could be remembered
 */
export function changedPins(
  listed: readonly Listing[],
  pins: Pick<Pins, 'get'>,
  { nowMs, room }: { nowMs: number; room: number },
): { changed: Pin[]; tooMany: number } {
  const byPerson = new Map<number, string | null>()
  const contradicted = new Set<number>()
  for (const { userId, fingerprint } of listed) {
    const other = byPerson.get(userId)
    if (other !== undefined && other !== fingerprint) contradicted.add(userId)
    byPerson.set(userId, fingerprint)
  }
  const changed: Pin[] = []
  let [left, tooMany] = [room, 0]
  for (const [userId, fingerprint] of byPerson) {
    const pin = pins.get(userId)
    if (contradicted.has(userId) || (pin?.listed ?? null) === fingerprint) continue
    if (pin !== undefined) {
      changed.push({ ...pin, listed: fingerprint, listedAtMs: fingerprint === null ? null : nowMs })
    } else if (left-- > 0) {
      const seen = { fingerprint, sinceMs: nowMs, listed: fingerprint, listedAtMs: nowMs }
      changed.push({ ...blankPin(userId), ...seen })
    } else tooMany++
  }
  return { changed, tooMany }
}

/** A certificate that several people are listed with. */
export interface Dispute {
  fingerprint: string
  /** Everybody who is listed with it, by id. */
  people: number[]
}

/** The disputes that begin with these pins: those that were none before. */
export function newDisputes(
  changed: readonly Pin[],
  pins: Pick<Pins, 'claimsOn' | 'claimantsOf'>,
): Dispute[] {
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
