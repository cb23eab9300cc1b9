import { expect, test } from 'vitest'
import { Refusal } from '../../../src/errors.ts'
import type { KeyList } from '../../../src/kernel/lookups.ts'
import { decisionAgainst, type Person } from '../../../src/kernel/people/person.ts'
import { chooseRecipients, solePersonOf } from '../../../src/kernel/people/recipients.ts'
import type { RecipientRules, Skipped } from '../../../src/kernel/people/recipients.ts'
import type { Distrust } from '../../../src/kernel/people/trust.ts'

/** A person whose certificate has these encryption keys, the one that is sealed to first. */
function person(userId: number, fingerprint: string, ...encryptionKeys: string[]): Person {
  const certificateStatus = {
    fingerprint,
    unusable: null,
    notBeforeMs: 0,
    expiresMs: Infinity,
    revocations: false,
    encryptionKeys: encryptionKeys.length === 0 ? [`${fingerprint}-seals`] : encryptionKeys,
    recipientBytes: { aes256: 96, aes128: 80 },
    algorithm: 'Curve25519',
    armored: `certificate ${fingerprint} of ${userId}`,
  }
  return { userId, fingerprint, unusable: null, certificateStatus }
}

const listOf = (people: Person[], more: Partial<KeyList> = {}): KeyList => ({
  people,
  nameless: 0,
  memberCount: undefined,
  lapsesAtMs: Infinity,
  tooMany: null,
  ...more,
})

interface Ruling extends RecipientRules {
  isOthers: (pair: { userId: number; fingerprint: string }) => boolean
  distrust: (userId: number, fingerprint: string | null) => Distrust | null
}

const rulesOf = ({ isOthers, distrust, ...more }: Partial<Ruling> = {}): RecipientRules => ({
  isPrivate: false,
  personId: null,
  unusable: 'skip',
  botId: 900,
  own: new Set<string>(),
  epoch: 0,
  decisionAgainst: (one) => {
    const people = { isOthers: isOthers ?? (() => false) }
    return decisionAgainst(one, 0, { people, trust: { distrust: distrust ?? (() => null) } })
  },
  ...more,
})

const chosen = (people: Person[], more: Partial<Ruling> = {}): string[] => [
  ...chooseRecipients(listOf(people), rulesOf(more)).certificates,
]

test('a shared subkey is sealed to once, under the certificate with no other subkey', () => {
  const bob = person(1, 'bob', 'subkey')
  const copy = person(2, 'bob', 'subkey')
  const graft = person(3, 'graft', 'subkey', 'other')
  const plain = person(4, 'plain graft', 'subkey')
  const own = bob.certificateStatus.armored
  expect(chosen([bob, copy])).toEqual([own])
  expect(chosen([bob, graft])).toEqual([own])
  expect(chosen([graft, bob])).toEqual([own])
  expect(chosen([bob, plain])).toHaveLength(1)
  // one certificate of several keys, listed by several people, is one too
  expect(chosen([graft, { ...graft, userId: 6 }])).toEqual([graft.certificateStatus.armored])
  // where both could be sealed to otherwise later, neither is taken for the other
  const two = person(5, 'bob with two', 'subkey', 'older')
  expect(chosen([graft, two])).toEqual([
    graft.certificateStatus.armored,
    two.certificateStatus.armored,
  ])
})

test('a certificate with an own key, primary key or subkey, is skipped as `own-key`', () => {
  const own = new Set(['bot', 'bot-seals'])
  const people = [person(1, 'bot'), person(2, 'x', 'fine', 'bot-seals'), person(3, 'c')]
  const { skipped } = chooseRecipients(listOf(people), rulesOf({ own }))
  expect(skipped).toEqual([1, 2].map((userId) => ({ userId, reason: 'own-key' })))
})

test('`chooseRecipients` returns the same array for the same list, epoch and rules', () => {
  const list = listOf([person(1, 'a'), person(2, 'b')])
  let asked = 0
  const rules = rulesOf({ distrust: () => (asked++, null) })
  const first = chooseRecipients(list, rules)
  expect(chooseRecipients(list, rulesOf({ ...rules })).certificates).toBe(first.certificates)
  expect(asked).toBe(2)
  const again = chooseRecipients(list, { ...rules, epoch: 1 })
  expect(again.certificates).toBe(first.certificates)
  expect(asked).toBe(4)
})

test('changed rules count at once for the same key list', () => {
  const list = listOf([person(1, 'a'), person(2, 'b')], { memberCount: 3 })
  const skippedBy = (more: Partial<Ruling>) =>
    chooseRecipients(list, rulesOf(more)).skipped.map(({ reason }) => reason)
  const distrust = (userId: number): Distrust | null => (userId === 1 ? 'blocked' : null)
  expect(skippedBy({})).toEqual([])
  expect(skippedBy({ epoch: 1, distrust })).toEqual(['blocked'])
  expect(skippedBy({ epoch: 2, isOthers: ({ userId }) => userId === 2 })).toEqual(['other-person'])
  expect(skippedBy({ epoch: 3, own: new Set(['b']) })).toEqual(['own-key'])
  const refused = 'postern_recipients_inconsistent'
  for (const more of [{ isPrivate: true }, { isPrivate: true, personId: 1 }, { botId: 2 }]) {
    expect(() => skippedBy({ epoch: 3, ...more })).toThrow(
      expect.objectContaining({ code: refused }),
    )
  }
  expect(() => skippedBy({ epoch: 4, distrust, unusable: 'refuse' })).toThrow()
})

/** What a send is refused with: code and message. */
function refusal(list: KeyList, more: Partial<Ruling> = {}): string {
  try {
    chooseRecipients(list, rulesOf(more))
  } catch (error) {
    if (error instanceof Refusal) return `${error.code}: ${error.message}`
  }
  return 'sent'
}

const [A, B] = [person(1, 'a'), person(2, 'b')]

test.each<[string, KeyList, Partial<RecipientRules>, string]>([
  ['one key of nobody', listOf([A], { nameless: 1 }), {}, 'a key that belongs to nobody'],
  ['keys of nobody alone', listOf([], { nameless: 2 }), {}, 'a key that belongs to nobody'],
  ['the bot', listOf([A, B]), { botId: 2 }, 'it names the bot'],
  [
    'as many keys as members, of whom the bot is one',
    listOf([A, B], { memberCount: 2 }),
    {},
    'keys: 2, members with the bot: 2',
  ],
  [
    'more keys than members',
    listOf([A, B], { memberCount: 1 }),
    {},
    'keys: 2, members with the bot: 1',
  ],
  [
    'one key for no member',
    listOf([A], { memberCount: 0 }),
    {},
    'keys: 1, members with the bot: 0',
  ],
  ['two keys for one person', listOf([A, person(1, 'another')]), {}, 'two keys for person 1'],
  [
    'a key and no key for one person',
    listOf([A, { ...A, fingerprint: null }]),
    {},
    'two keys for person 1',
  ],
  ['two people in a private chat', listOf([A, B]), { isPrivate: true }, 'more than one person'],
  [
    'another person in a private chat',
    listOf([B]),
    { isPrivate: true, personId: 1 },
    'it names 2, and the private chat is person 1’s',
  ],
])('a list with %s is refused as contradictory', (_, list, more, why) => {
  expect(refusal(list, more)).toMatch(/^postern_recipients_inconsistent: /)
  expect(refusal(list, more)).toContain(why)
})

test('a list too long for any message is refused with the number of recipients, before judging', () => {
  const distrust = (): Distrust => expect.unreachable()
  const list = listOf([A], { tooMany: 5000, nameless: 1 })
  const refused = refusal(list, { distrust })
  expect(refused).toMatch(/^postern_seal_too_large: /)
  // the bot is sealed to as well
  expect(refused).toContain('5001 recipients are more')
})

/** Rules by which people are left out for these reasons, by id. */
function leavingOut(reasons: Record<number, Skipped['reason']>): Partial<Ruling> {
  const has = (userId: number, reason: string): boolean => reasons[userId] === reason
  return {
    own: new Set([...FINGERPRINTS].flatMap(([id, print]) => (has(id, 'own-key') ? [print] : []))),
    isOthers: ({ userId }) => has(userId, 'other-person'),
    distrust: (userId) => (reasons[userId] as Distrust | undefined) ?? null,
  }
}
const FINGERPRINTS = new Map([
  [1, 'a'],
  [2, 'b'],
])

const REASONS = ['blocked', 'key-changed', 'not-accepted', 'other-person', 'own-key'] as const

test.each(REASONS)(
  'a send whose people are all skipped, one of them as `%s`, is refused with a code by the reason',
  (reason) => {
    const expired = { ...B, unusable: 'expired' as const }
    const rules = leavingOut({ 1: reason })
    const code = reason === 'own-key' ? 'postern_recipient_unusable' : 'postern_trust_required'
    for (const unusable of ['skip', 'refuse'] as const) {
      const refused = refusal(listOf([A, expired]), { ...rules, unusable })
      expect(refused).toMatch(new RegExp(`^${code}: `))
      // whoever the operator can help is named; all of them where nobody can be helped
      expect(refused).toContain(`1 (${reason})`)
      expect(refused.includes('2 (expired)')).toBe(reason === 'own-key')
    }
  },
)

test.each(REASONS)(
  'a person skipped as `%s` does not keep the others from the message, unless set to refuse',
  (reason) => {
    const list = listOf([A, B])
    const rules = leavingOut({ 1: reason })
    const { certificates, skipped } = chooseRecipients(list, rulesOf(rules))
    expect(certificates).toEqual([B.certificateStatus.armored])
    expect(skipped).toEqual([{ userId: 1, reason }])
    // with what one lists oneself, nobody silences a group
    const silences = reason !== 'own-key' && reason !== 'other-person'
    expect(refusal(list, { ...rules, unusable: 'refuse' })).toMatch(
      silences ? /^postern_trust_required: / : /^sent$/,
    )
  },
)

test('an unusable certificate refuses a send only with `unusable: refuse`', () => {
  const expired = { ...B, unusable: 'expired' as const }
  expect(refusal(listOf([A, expired]))).toBe('sent')
  const refused = refusal(listOf([A, expired]), { unusable: 'refuse' })
  expect(refused).toMatch(/^postern_recipient_unusable: /)
  expect(refused).toContain('2 (expired)')
})

test('a refusal names ten skipped people, and counts the others', () => {
  const people = Array.from({ length: 12 }, (_, index) => person(index + 1, `p${index}`))
  const distrust = (): Distrust => 'blocked'
  const named = (count: number): string =>
    refusal(listOf(people.slice(0, count)), { distrust }).replace(/^.*?1 \(/s, '1 (')
  const ten = Array.from({ length: 10 }, (_, index) => `${index + 1} (blocked)`).join(', ')
  expect(named(1)).toBe('1 (blocked)')
  expect(named(10)).toBe(ten)
  expect(named(12)).toBe(`${ten} and 2 more`)
})

test('a person with an unparseable certificate is skipped as such, and no owner', () => {
  const unread = { ...A, fingerprint: null, unusable: 'unparseable' as const }
  const rules = { isOthers: () => true, own: new Set(['b-seals']) }
  expect(refusal(listOf([unread]), rules)).toMatch(/^postern_recipient_unusable: /)
  expect(refusal(listOf([unread]), rules)).toContain('1 (unparseable)')
})

test('a changed certificate in a list gives another array of recipients', () => {
  const list = listOf([A, B])
  const first = chooseRecipients(list, rulesOf()).certificates
  const renewed = { ...B.certificateStatus, armored: 'certificate b, renewed' }
  list.people = [A, { ...B, certificateStatus: renewed }]
  const second = chooseRecipients(list, rulesOf()).certificates
  expect(second).toEqual([first[0], 'certificate b, renewed'])
  list.people = [A]
  expect(chooseRecipients(list, rulesOf()).certificates).toEqual([first[0]])
})

test('`solePersonOf` names the only person of a consistent list', () => {
  const a = person(1, 'a')
  expect(solePersonOf(listOf([a]), 900)).toBe(1)
  expect(solePersonOf(listOf([a, a]), 900)).toBe(1)
  const odd = [
    listOf([]),
    listOf([a, person(2, 'b')]),
    listOf([a, person(1, 'b')]),
    listOf([a], { nameless: 1 }),
    listOf([a], { tooMany: 5000 }),
    listOf([a], { memberCount: 1 }),
    listOf([person(900, 'a')]),
  ]
  expect(odd.map((list) => solePersonOf(list, 900))).toEqual(odd.map(() => null))
})
