import { expect, test } from 'vitest'
import type { PastListing } from '../../../src/kernel/people/key-list-history.ts'
import type { Person } from '../../../src/kernel/people/person.ts'
import {
  ALICE,
  ALICES,
  BOB,
  BOBS,
  BOT,
  CAROL,
  MALLORY,
  SIGNED_MS,
  listOf,
  listing,
  person,
  primary,
  scene,
  subkey,
} from './audience-scene.ts'

const HOUR = 3_600_000
/** Fingerprints of the bot, Alice, Bob, Carol and Mallory. */
const [THE_BOT, A, B] = [primary('d'), primary('a'), primary('b')]
const [C, M] = [primary('c'), primary('f')]
const MALLORYS = person(MALLORY, 'f')
const CAROLS = person(CAROL, 'c')

const always = (userId: number, digit: string): PastListing => [userId, primary(digit), 0]
const since = (userId: number, digit: string, ms: number): PastListing => [
  userId,
  primary(digit),
  SIGNED_MS + ms,
]

type Case = [
  what: string,
  is: 'meant' | 'not-for-all' | 'other',
  intended: string[],
  more?: { list?: Person[]; past?: PastListing[]; fromId?: number; signer?: string },
]

/** Alice signs, in a group; `list` is what the service shows there, `past` what was ever listed. */
const ALL = [THE_BOT, A, B]
const PAST = [always(ALICE, 'a'), always(BOB, 'b'), always(MALLORY, 'f')]
const TRIO = [ALICES, BOBS, MALLORYS]

/** Mallory is on the list, too, with these listings of the past. */
const trio = (...hers: PastListing[]) => ({ list: TRIO, past: [...PAST.slice(0, 2), ...hers] })
const listedAt = (ms: number): PastListing => since(MALLORY, 'f', ms)
/** These are on the list beside Alice and Bob. */
const beside = (...more: Person[]) => ({ list: [ALICES, BOBS, ...more], past: PAST })
const BY_BOT = { fromId: BOT, signer: THE_BOT }

const GROUP: Case[] = [
  ['all members named', 'meant', ALL],
  ['all but the sender named', 'meant', [THE_BOT, B]],
  ['a missing member, always listed', 'other', ALL, { list: TRIO, past: PAST }],
  ['a missing member, listed after the signature', 'not-for-all', ALL, trio(listedAt(1))],
  ['a missing member, listed within the hour before', 'not-for-all', ALL, trio(listedAt(1 - HOUR))],
  ['a missing member, listed an hour before', 'other', ALL, trio(listedAt(-HOUR))],
  ['a missing member without a recorded listing', 'other', ALL, trio()],
  [
    'one missing member excused and one not',
    'other',
    ALL,
    { list: [...TRIO, CAROLS], past: [...PAST, since(CAROL, 'c', 1)] },
  ],
  [
    'a missing member with an expired key',
    'meant',
    ALL,
    beside(person(MALLORY, 'f', { unusable: 'expired' })),
  ],
  [
    'a missing member with a rare algorithm',
    'not-for-all',
    ALL,
    beside(withAlgorithm(MALLORYS, 'X448')),
  ],
  [
    'a member named by a former certificate',
    'not-for-all',
    ALL,
    { list: [ALICES, person(BOB, 'c')], past: [...PAST, since(BOB, 'c', -5 * HOUR)] },
  ],
  [
    'a missing member with a certificate changed later',
    'not-for-all',
    ALL,
    { list: [ALICES, BOBS, person(MALLORY, 'c')], past: [...PAST, since(MALLORY, 'c', 1)] },
  ],
  ['a stranger named', 'other', [...ALL, C], { past: PAST }],
  ['a former member named', 'meant', [...ALL, M], { past: PAST }],
  [
    'a member with another’s certificate in the past, and that named',
    'other',
    ALL,
    {
      list: [ALICES, MALLORYS],
      past: [always(BOB, 'b'), always(MALLORY, 'b'), always(MALLORY, 'f')],
    },
  ],
  ['a named subkey beside a member’s own', 'other', ALL, beside(listing(MALLORY, 'f', 'b'))],
  ['a named subkey as a member’s only one', 'meant', ALL, beside(listing(MALLORY, 'b'))],
  ['a missing member’s subkey named', 'other', [...ALL, subkey('f')], { list: TRIO, past: PAST }],
  ['a copy of the sender’s certificate listed', 'meant', ALL, beside(person(MALLORY, 'a'))],
  ['a copy of the bot’s certificate listed', 'meant', ALL, beside(person(MALLORY, 'd'))],
  ['the sender’s former certificate as signer', 'meant', [THE_BOT, C, B], { signer: C }],
  ['the bot as sender, all members named', 'meant', ALL, BY_BOT],
  ['the bot as sender, a missing member', 'other', [THE_BOT, A], { past: PAST, ...BY_BOT }],
  ['an unlisted sender', 'other', [...ALL, M], { list: [BOBS, MALLORYS], past: PAST }],
]

const DAY = 24 * HOUR

/** What a lying service, a member in league with it, or a hostile app tries beside. */
const HOSTILE: Case[] = [
  ['all members named twice', 'meant', [...ALL, ...ALL]],
  ['an empty name', 'other', [...ALL, ''], { past: PAST }],
  ['a name of version 6 length', 'other', [...ALL, M + M.slice(16)], { past: PAST }],
  ['a shortened name', 'other', [THE_BOT, A, B.slice(24)], { past: PAST }],
  [
    'a missing member who left and came back',
    'other',
    ALL,
    { list: TRIO, past: [...PAST, since(BOB, 'b', DAY), listedAt(DAY)] },
  ],
  [
    'a missing member who came back under another id',
    'not-for-all',
    ALL,
    { list: [ALICES, BOBS, person(10, 'f')], past: [...PAST, since(10, 'f', 1)] },
  ],
  ['a missing member who joined weeks later', 'not-for-all', ALL, trio(listedAt(29 * DAY))],
  [
    'a missing member with two certificates, one listed long ago',
    'other',
    ALL,
    { list: [...TRIO, person(MALLORY, 'c')], past: [...PAST, since(MALLORY, 'c', 1)] },
  ],
  ['a copy of a named certificate listed', 'meant', ALL, beside(person(MALLORY, 'b'))],
  [
    'a named certificate that another member claimed later',
    'other',
    ALL,
    { list: [ALICES, MALLORYS], past: [...PAST, since(MALLORY, 'b', -DAY)] },
  ],
  [
    'an unparseable certificate as the only one',
    'other',
    ALL,
    { list: [ALICES, person(BOB, 'b', { fingerprint: null, unusable: 'unparseable' })] },
  ],
  ['the bot listed as a member', 'meant', ALL, beside(person(BOT, 'f'))],
  ['the sender listed with two certificates', 'meant', ALL, beside(person(ALICE, 'f'))],
  ['the bot’s subkey beside a member’s own', 'meant', ALL, beside(listing(MALLORY, 'f', 'e'))],
]

function withAlgorithm(one: Person, algorithm: string): Person {
  return { ...one, certificateStatus: { ...one.certificateStatus, algorithm } }
}

test.each([...GROUP, ...HOSTILE])('words in a group with %s are judged as %s', async (...one) => {
  const [, is, intended, { list = [ALICES, BOBS], past = [], ...from } = {}] = one
  const { all, audience } = scene()
  Object.assign(all, { list: listOf(list), past })
  for (const to of [['e'], ['e', 'a', 'b'], ['e', 'f'], ['e', '9'], []]) {
    for (const hasUnnamed of [true, false]) {
      expect(await audience(to, { intended, ...from, hasUnnamed })).toBe(is)
    }
  }
})

test('words with named recipients in a group too large for a message are for another chat', async () => {
  const { all, audience } = scene()
  all.list = listOf([], 3000)
  expect(await audience(['e'], { intended: [THE_BOT, A] })).toBe('other')
})

test('words with named recipients are judged by a fresh key list before they are withheld', async () => {
  const { all, audience } = scene()
  all.mayAskAgain = true
  all.list = listOf(TRIO)
  all.past = PAST
  all.fresh = listOf([ALICES, BOBS])
  expect(await audience(['e'], { intended: ALL })).toBe('meant')
})

test('words with named recipients need not name a person whom the bot does not trust', async () => {
  const { all, parts, audience } = scene()
  all.list = listOf(TRIO)
  all.past = PAST
  Object.assign(parts.trust, { distrust: (id: number) => (id === MALLORY ? 'blocked' : null) })
  expect(await audience(['e'], { intended: ALL })).toBe('meant')
})

const cases: Case[] = [
  ['the bot and Alice named', 'meant', [THE_BOT, A]],
  ['the bot alone named', 'meant', [THE_BOT]],
  ['Alice’s subkey named', 'meant', [THE_BOT, subkey('a')]],
  ['Bob named too', 'other', ALL],
  ['a stranger named too', 'other', [THE_BOT, A, M]],
  ['Alice’s former certificate named', 'meant', [THE_BOT, C], { past: [always(ALICE, 'c')] }],
  ['Bob named, once listed there', 'other', ALL, { past: [always(BOB, 'b')] }],
  ['the certificate of the signature named', 'meant', [THE_BOT, C], { signer: C }],
  ['the bot as sender, for Alice', 'meant', [THE_BOT, A], BY_BOT],
  ['the bot as sender, for Bob', 'other', [THE_BOT, B], BY_BOT],
]
test.each(cases)('words in a private chat with %s are judged as %s', async (...one) => {
  const [, is, intended, { past = [], ...from } = {}] = one
  const { all, audience } = scene()
  Object.assign(all, { isPrivate: true, past })
  for (const to of [['e'], ['e', 'a'], ['e', 'b'], ['e', '9']]) {
    for (const hasUnnamed of [true, false]) {
      expect(await audience(to, { intended, ...from, hasUnnamed })).toBe(is)
    }
  }
})

test('words with named recipients in a private chat are judged again by a fresh certificate', async () => {
  const { all, asked, audience } = scene()
  all.isPrivate = true
  all.mayAskAgain = true
  asked.signer.mockImplementation((_userId, _chatId, sinceMs) =>
    Promise.resolve(sinceMs === undefined ? ALICES : person(ALICE, 'c')),
  )
  expect(await audience(['e'], { intended: [THE_BOT, C] })).toBe('meant')
  expect(asked.askedInVain.mock.calls).toEqual([[ALICE, 50]])
})

test.each([SIGNED_MS, null])(
  'words of an unlisted sender are for another chat, signed at %j',
  async (signedAtMs) => {
    const { all, audience } = scene()
    all.list = listOf([BOBS, MALLORYS])
    const hers = { signedAtMs }
    expect(await audience(['e', 'a', 'b'], hers)).toBe('other')
    expect(await audience(['e'], { ...hers, hasUnnamed: true })).toBe('other')
    all.signer = null
    expect(await audience(['e', 'b', 'f'], hers), 'without a certificate nobody is listed').toBe(
      'meant',
    )
  },
)

test('words of a sender outside the key list are accepted once a fresh list contains the sender', async () => {
  const { all, audience } = scene()
  all.mayAskAgain = true
  all.list = listOf([BOBS])
  all.fresh = listOf([ALICES, BOBS])
  expect(await audience(['e', 'a', 'b'])).toBe('meant')
})

const unsigned = { signedAtMs: null, signer: null }

test.each([
  [['e', 'a'], 'other'],
  [['e', 'b'], 'other'],
  [['e'], 'other'],
  [['e', 'c'], 'other'],
  [['e', 'a', 'b'], 'meant'],
  [['e', 'a', '9'], 'meant'],
])('unsigned words in a group of three sealed to %j are judged as %s', async (to, is) => {
  const { all, audience } = scene()
  all.list = listOf(TRIO)
  for (const fromId of [ALICE, BOB]) {
    expect(await audience(to, { ...unsigned, fromId })).toBe(is)
  }
})

test('unsigned words to a key that two people list reach one of them at most', async () => {
  const { all, audience } = scene()
  all.list = listOf([ALICES, BOBS, listing(MALLORY, 'f', 'a')])
  expect(await audience(['e', 'a'], { ...unsigned, fromId: MALLORY })).toBe('other')
  expect(await audience(['e', 'a', 'f'], { ...unsigned, fromId: MALLORY })).toBe('other')
  expect(await audience(['e', 'a', 'b'], { ...unsigned, fromId: MALLORY })).toBe('meant')
})

test('unsigned words of the only member with a key are accepted in a group', async () => {
  const { all, audience } = scene()
  all.list = listOf([ALICES])
  expect(await audience(['e', 'a'], unsigned)).toBe('meant')
  all.signer = null
  expect(await audience(['e', 'a'], { ...unsigned, fromId: MALLORY })).toBe('other')
})

test.each([
  ['Alice listed first', [1, 2], [], 'meant'],
  ['Mallory listed first', [2, 1], [], 'other'],
  ['both listed at once', [1, 1], [], 'other'],
  ['Alice named by the operator', [2, 1], [ALICE], 'meant'],
  ['Mallory named by the operator', [1, 2], [MALLORY], 'other'],
  ['both named by the operator', [1, 2], [ALICE, MALLORY], 'meant'],
] as const)(
  'unsigned private words to a key of two people: %s',
  async (_, [alices, mallorys], named, is) => {
    const { all, audience } = scene()
    all.isPrivate = true
    const firstListed = new Map([
      [ALICE, alices],
      [MALLORY, mallorys],
    ])
    all.owners.set('a'.repeat(16), firstListed)
    all.named = [...named]
    expect(await audience(['e', 'a'], unsigned)).toBe(is)
    expect(await audience(['e', 'a']), 'who signs has shown who they are').toBe('meant')
  },
)
