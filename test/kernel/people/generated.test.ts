/** Whose a certificate is and who the recipients are, over generated lists and listings. */
import { expect, test } from 'vitest'
import type { Pin } from '../../../src/kernel/memory.ts'
import type { KeyList } from '../../../src/kernel/lookups.ts'
import type { TrustChange } from '../../../src/kernel/people/journal.ts'
import type { Person, Unusable } from '../../../src/kernel/people/person.ts'
import { chooseRecipients, type RecipientRules } from '../../../src/kernel/people/recipients.ts'
import { Refusal } from '../../../src/errors.ts'
import { fc } from '../../support/property.ts'
import { smallTrust } from './small-memory.ts'

const printOf = (letter: string): string => letter.repeat(40)
const LETTERS = ['a', 'b', 'c', 'd']
const userId = fc.integer({ min: 1, max: 6 })
const letter = fc.constantFrom(...LETTERS)

/** A certificate that anybody can make: any primary key, with anybody's subkeys. */
const person: fc.Arbitrary<Person> = fc
  .record({
    userId,
    primary: letter,
    subkeys: fc.uniqueArray(letter, { minLength: 1, maxLength: 2 }),
    unusable: fc.option(fc.constantFrom<Unusable>('expired', 'revoked'), { freq: 4 }),
  })
  .map(({ primary, subkeys, unusable, ...one }) => {
    const fingerprint = printOf(primary)
    const encryptionKeys = subkeys.map((key) => `${key}-subkey`)
    const armored = `${primary} with ${subkeys.join()}`
    const recipientBytes = { aes256: 96, aes128: 80 }
    const dates = { notBeforeMs: 0, expiresMs: Infinity, revocations: false, unusable: null }
    const more = { fingerprint, encryptionKeys, armored, recipientBytes, algorithm: 'Curve25519' }
    return { ...one, fingerprint, unusable, certificateStatus: { ...dates, ...more } }
  })
const people = fc.uniqueArray(person, { maxLength: 6, selector: (one) => one.userId })

const rules: fc.Arbitrary<RecipientRules> = fc
  .record({
    unusable: fc.constantFrom('skip' as const, 'refuse' as const),
    own: fc.subarray([...LETTERS.map(printOf), ...LETTERS.map((one) => `${one}-subkey`)], {
      maxLength: 2,
    }),
    owners: fc.dictionary(letter.map(printOf), userId),
    blocked: fc.subarray([1, 2, 3, 4, 5, 6], { maxLength: 2 }),
  })
  .map(({ unusable, own, owners, blocked }) => ({
    unusable,
    own: new Set(own),
    isPrivate: false,
    personId: null,
    botId: 900,
    epoch: 0,
    decisionAgainst: (one) => {
      if ((owners[one.fingerprint ?? ''] ?? one.userId) !== one.userId) return 'other-person'
      return blocked.includes(one.userId) ? 'blocked' : null
    },
  }))

const listOf = (listed: Person[]): KeyList => {
  return { people: listed, nameless: 0, memberCount: undefined, lapsesAtMs: 0, tooMany: null }
}
/** Who was chosen: certificates, the subkeys that they are sealed to, who was left out and why. */
function outcome(listed: Person[], by: RecipientRules) {
  try {
    const { certificates, skipped } = chooseRecipients(listOf(listed), by)
    const chosen = certificates.map((armored) => {
      return listed.find((one) => one.certificateStatus.armored === armored)!
    })
    const left = new Map(skipped.map((one) => [one.userId, one.reason]))
    return { code: null, certificates, chosen, left, subkeys: new Set(chosen.map(subkeyOf)) }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { code: error.code, certificates: [], chosen: [], left: new Map(), subkeys: new Set() }
  }
}
const subkeyOf = (one: Person): string | undefined => one.certificateStatus.encryptionKeys[0]

test('no person is a recipient twice, and no own key or excluded person is sealed to', () => {
  const property = fc.property(people, rules, (listed, by) => {
    const { code, certificates, chosen, left, subkeys } = outcome(listed, by)
    expect(new Set(certificates).size).toBe(certificates.length)
    for (const { fingerprint, certificateStatus } of chosen) {
      const keys = [fingerprint, ...certificateStatus.encryptionKeys]
      expect(keys.some((key) => key !== null && by.own.has(key))).toBe(false)
    }
    if (code !== null) return
    for (const one of listed) {
      if (by.decisionAgainst(one) !== null) expect(left.has(one.userId)).toBe(true)
      // everybody is named or sealed to
      else expect(left.has(one.userId) || subkeys.has(subkeyOf(one))).toBe(true)
    }
  })
  fc.assert(property, { numRuns: 1000 })
})

test('the certificate of one member never removes another member from the recipients', () => {
  const property = fc.property(people, person, rules, (listed, added, by) => {
    const others = listed.filter((one) => one.userId !== added.userId)
    const skipping = { ...by, unusable: 'skip' as const }
    const [before, after] = [outcome(others, skipping), outcome([...others, added], skipping)]
    if (before.code !== null) return
    expect(after.code).toBeNull()
    for (const { userId: id } of others) expect(after.left.get(id)).toBe(before.left.get(id))
    for (const subkey of before.subkeys) expect(after.subkeys).toContain(subkey)
    // with a certificate that is not theirs they silence nobody who must not be left out either
    const isTheirs = !['own-key', 'other-person'].includes(after.left.get(added.userId) ?? '')
    if (isTheirs && after.left.has(added.userId)) return
    const refusing = { ...by, unusable: 'refuse' as const }
    expect(outcome([...others, added], refusing).code).toBe(outcome(others, refusing).code)
  })
  fc.assert(property, { numRuns: 1000 })
})

test('the order of a key list changes neither recipients, skipped people nor refusals', () => {
  const shuffled = people.chain((listed) => {
    const all = fc.shuffledSubarray(listed, { minLength: listed.length })
    return fc.tuple(fc.constant(listed), all)
  })
  const property = fc.property(shuffled, rules, ([listed, again], by) => {
    const [one, other] = [outcome(listed, by), outcome(again, by)]
    expect([one.code, one.left, one.subkeys]).toEqual([other.code, other.left, other.subkeys])
  })
  fc.assert(property, { numRuns: 1000 })
})

async function trusting() {
  const { trust, people: owners, journal } = await smallTrust({ policy: 'first-use' })
  const changes: TrustChange[] = []
  journal.onChange((change) => changes.push(change))
  return { trust, owners, changes }
}

const listing = fc.record({ userId, fingerprint: fc.option(letter.map(printOf), { freq: 5 }) })
const listings = fc.array(
  fc.uniqueArray(listing, { minLength: 1, maxLength: 4, selector: (one) => one.userId }),
  { maxLength: 6 },
)
const listedWith = (all: Pin[], print: string): number[] =>
  all.flatMap((one) => (one.listed === print ? [one.userId] : []))

test('a certificate that several people list has no owner until the operator names one', async () => {
  const property = fc.asyncProperty(listings, async (lists) => {
    const { trust, owners, changes } = await trusting()
    for (const list of lists) await trust.saw(list)
    for (const print of LETTERS.map(printOf)) {
      const claimants = listedWith(trust.all, print)
      const isDisputed = claimants.length > 1
      expect(owners.ownerOf(print)).toBeUndefined()
      expect(trust.isShared(print)).toBe(isDisputed)
      if (!isDisputed) continue
      expect(changes).toContainEqual(
        expect.objectContaining({
          kind: 'certificate-shared',
          detail: expect.objectContaining({ fingerprint: print, owner: null }),
        }),
      )
      const [owner = 0, ...others] = claimants
      await trust.decisions.accept(owner, print)
      expect(trust.isShared(print)).toBe(false)
      expect(owners.isOthers({ userId: owner, fingerprint: print })).toBe(false)
      for (const id of others) {
        expect(owners.isOthers({ userId: id, fingerprint: print })).toBe(true)
      }
    }
  })
  await fc.assert(property)
})

test('the order of concurrent listings changes no pin, and no listing moves a pin', async () => {
  const property = fc.asyncProperty(listings, async (lists) => {
    const [one, other] = [await trusting(), await trusting()]
    const first = new Map<number, string>()
    for (const list of lists) {
      await one.trust.saw(list)
      await other.trust.saw(list.toReversed())
      for (const { userId: id, fingerprint } of list) {
        if (fingerprint !== null && !first.has(id)) first.set(id, fingerprint)
      }
    }
    expect(one.trust.all).toEqual(other.trust.all)
    expect(new Map(one.trust.all.map((pin) => [pin.userId, pin.fingerprint]))).toEqual(
      new Map([...first].sort(([a], [b]) => a - b)),
    )
  })
  await fc.assert(property)
})
