import { describe, expect, test } from 'vitest'
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
const [THE_BOT, A, B, C, M] = ['d', 'a', 'b', 'c', 'f'].map(primary) as [
  string,
  string,
  string,
  string,
  string,
]
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

const GROUP: Case[] = [
  ['everybody is named', 'meant', ALL],
  ['everybody but the sender is named', 'meant', [THE_BOT, B]],
  ['somebody is missing who was always listed', 'other', ALL, { list: TRIO, past: PAST }],
  [
    'somebody is missing who was listed after it was signed',
    'not-for-all',
    ALL,
    { list: TRIO, past: [...PAST.slice(0, 2), since(MALLORY, 'f', 1)] },
  ],
  [
    'somebody is missing who was listed less than an hour before',
    'not-for-all',
    ALL,
    { list: TRIO, past: [...PAST.slice(0, 2), since(MALLORY, 'f', 1 - HOUR)] },
  ],
  [
    'somebody is missing who was listed an hour before',
    'other',
    ALL,
    { list: TRIO, past: [...PAST.slice(0, 2), since(MALLORY, 'f', -HOUR)] },
  ],
  [
    'somebody is missing of whom no listing was recorded',
    'other',
    ALL,
    { list: TRIO, past: PAST.slice(0, 2) },
  ],
  [
    'one who is missing is excused and another is not',
    'other',
    ALL,
    { list: [...TRIO, CAROLS], past: [...PAST, since(CAROL, 'c', 1)] },
  ],
  [
    'somebody is missing whose key can be used no more',
    'meant',
    ALL,
    { list: [ALICES, BOBS, person(MALLORY, 'f', { unusable: 'expired' })], past: PAST },
  ],
  [
    'somebody is missing whose key not every program encrypts to',
    'not-for-all',
    ALL,
    { list: [ALICES, BOBS, withAlgorithm(MALLORYS, 'X448')], past: PAST },
  ],
  [
    'somebody is named by the certificate before, which changed since',
    'not-for-all',
    ALL,
    { list: [ALICES, person(BOB, 'c')], past: [...PAST, since(BOB, 'c', -5 * HOUR)] },
  ],
  [
    'somebody changed the certificate after it was signed, and neither is named',
    'not-for-all',
    ALL,
    { list: [ALICES, BOBS, person(MALLORY, 'c')], past: [...PAST, since(MALLORY, 'c', 1)] },
  ],
  ['somebody is named who was never here', 'other', [...ALL, C], { past: PAST }],
  ['somebody is named who was here once', 'meant', [...ALL, M], { past: PAST }],
  [
    'another’s certificate was once listed as hers, and that one is named',
    'other',
    ALL,
    {
      list: [ALICES, MALLORYS],
      past: [always(BOB, 'b'), always(MALLORY, 'b'), always(MALLORY, 'f')],
    },
  ],
  [
    'another’s subkey is in her certificate beside her own, and that one is named',
    'other',
    ALL,
    { list: [ALICES, BOBS, listing(MALLORY, 'f', 'b')], past: PAST },
  ],
  [
    'nothing but a named person’s subkey is in her certificate',
    'meant',
    ALL,
    { list: [ALICES, BOBS, listing(MALLORY, 'b')], past: PAST },
  ],
  [
    'a subkey of somebody who is missing is named',
    'other',
    [...ALL, subkey('f')],
    { list: TRIO, past: PAST },
  ],
  [
    'a copy of the sender’s certificate is listed',
    'meant',
    ALL,
    { list: [ALICES, BOBS, person(MALLORY, 'a')] },
  ],
  [
    'a copy of the bot’s certificate is listed',
    'meant',
    ALL,
    { list: [ALICES, BOBS, person(MALLORY, 'd')] },
  ],
  [
    'it is signed by the sender’s former certificate, which it names',
    'meant',
    [THE_BOT, C, B],
    { signer: C },
  ],
  ['the bot’s own words name everybody', 'meant', ALL, { fromId: BOT, signer: THE_BOT }],
  [
    'the bot’s own words miss somebody',
    'other',
    [THE_BOT, A],
    { past: PAST, fromId: BOT, signer: THE_BOT },
  ],
  ['its sender is not on the list', 'other', [...ALL, M], { list: [BOBS, MALLORYS], past: PAST }],
]

const DAY = 24 * HOUR

/** What a lying service, a member in league with it, or a hostile app tries beside. */
const HOSTILE: Case[] = [
  ['everybody is named twice', 'meant', [...ALL, ...ALL]],
  ['a name is empty', 'other', [...ALL, ''], { past: PAST }],
  ['a name is as long as one of version 6', 'other', [...ALL, M + M.slice(16)], { past: PAST }],
  ['a name is the end of a fingerprint', 'other', [THE_BOT, A, B.slice(24)], { past: PAST }],
  [
    'somebody is missing who left and came back',
    'other',
    ALL,
    { list: TRIO, past: [...PAST, since(BOB, 'b', DAY), since(MALLORY, 'f', DAY)] },
  ],
  [
    'somebody is missing who came back under another number, as a new member',
    'not-for-all',
    ALL,
    { list: [ALICES, BOBS, person(10, 'f')], past: [...PAST, since(10, 'f', 1)] },
  ],
  [
    'words were held back until a member was made',
    'not-for-all',
    ALL,
    { list: TRIO, past: [...PAST.slice(0, 2), since(MALLORY, 'f', 29 * DAY)] },
  ],
  [
    'of two listings of one person the first is long ago',
    'other',
    ALL,
    { list: [...TRIO, person(MALLORY, 'c')], past: [...PAST, since(MALLORY, 'c', 1)] },
  ],
  [
    'a copy of a named certificate is listed',
    'meant',
    ALL,
    { list: [...TRIO.slice(0, 2), person(MALLORY, 'b')], past: PAST },
  ],
  [
    'a certificate that was Bob’s first is claimed later by who reads now',
    'other',
    ALL,
    { list: [ALICES, MALLORYS], past: [...PAST, since(MALLORY, 'b', -DAY)] },
  ],
  [
    'nothing that is listed can be parsed',
    'other',
    ALL,
    { list: [ALICES, person(BOB, 'b', { fingerprint: null, unusable: 'unparseable' })] },
  ],
  [
    'the bot is on the list under its own number',
    'meant',
    ALL,
    { list: [ALICES, BOBS, person(BOT, 'f')], past: PAST },
  ],
  [
    'the sender has two certificates on the list, and names one',
    'meant',
    ALL,
    { list: [ALICES, BOBS, person(ALICE, 'f')], past: PAST },
  ],
  [
    'her certificate lists the bot’s subkey beside her own',
    'meant',
    ALL,
    { list: [ALICES, BOBS, listing(MALLORY, 'f', 'e')], past: PAST },
  ],
]

function withAlgorithm(one: Person, algorithm: string): Person {
  return { ...one, certificateStatus: { ...one.certificateStatus, algorithm } }
}

describe('words in a group whose signature names recipients', () => {
  test.each([...GROUP, ...HOSTILE])(
    'words in a group (%s) are judged as %s',
    async (...one) => {
      const [, is, intended, { list = [ALICES, BOBS], past = [], ...from } = {}] = one
      const { all, audience } = scene()
      Object.assign(all, { list: listOf(list), past })
      for (const to of [['e'], ['e', 'a', 'b'], ['e', 'f'], ['e', '9'], []]) {
        for (const hasUnnamed of [true, false]) {
          expect(await audience(to, { intended, ...from, hasUnnamed })).toBe(is)
        }
      }
    },
  )

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
})

describe('words in Alice’s private chat whose signature names recipients', () => {
  const cases: Case[] = [
    ['nobody but the bot and Alice is named', 'meant', [THE_BOT, A]],
    ['the bot alone is named', 'meant', [THE_BOT]],
    ['Alice’s subkey is named', 'meant', [THE_BOT, subkey('a')]],
    ['Bob is named too', 'other', ALL],
    ['somebody unknown is named too', 'other', [THE_BOT, A, M]],
    ['Alice’s certificate before is named', 'meant', [THE_BOT, C], { past: [always(ALICE, 'c')] }],
    [
      'Bob’s certificate is named, and he was listed there once',
      'other',
      ALL,
      { past: [always(BOB, 'b')] },
    ],
    ['the certificate that verified is named', 'meant', [THE_BOT, C], { signer: C }],
    ['the bot’s own words are for Alice', 'meant', [THE_BOT, A], { fromId: BOT, signer: THE_BOT }],
    ['the bot’s own words are for Bob', 'other', [THE_BOT, B], { fromId: BOT, signer: THE_BOT }],
  ]
  test.each(cases)('words in a private chat (%s) are judged as %s', async (...one) => {
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
})

describe('a sender who is not on the key list', () => {
  test.each([SIGNED_MS, null])(
    'words of a sender outside the group’s key list are for another chat, signed at %j',
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
})

describe('unsigned words', () => {
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

  test('unsigned words of the only person with a key in a group are for it', async () => {
    const { all, audience } = scene()
    all.list = listOf([ALICES])
    expect(await audience(['e', 'a'], unsigned)).toBe('meant')
    all.signer = null
    expect(await audience(['e', 'a'], { ...unsigned, fromId: MALLORY })).toBe('other')
  })

  test.each([
    ['Alice, the first', [1, 2], [], 'meant'],
    ['Mallory, the first', [2, 1], [], 'other'],
    ['nobody of two at once', [1, 1], [], 'other'],
    ['Alice, whom the operator names', [2, 1], [ALICE], 'meant'],
    ['Mallory, whom the operator names', [1, 2], [MALLORY], 'other'],
    ['the first of two whom the operator names', [1, 2], [ALICE, MALLORY], 'meant'],
  ] as const)(
    'unsigned words in a private chat to a key of two people: of %s',
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
})
