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
  SIGNED_MS,
  listOf,
  person,
  primary,
  scene,
  subkey,
} from './audience-scene.ts'

const HOUR = 3_600_000
const MALLORY = 9
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

interface Case {
  what: string
  list?: Person[]
  past?: PastListing[]
  intended: string[]
  is: 'meant' | 'not-for-all' | 'other'
  from?: number
  signer?: string
}

/** Alice signs, in a group; `list` is what the service shows there, `past` what was ever listed. */
const ALL = [THE_BOT, A, B]
const PAST = [always(ALICE, 'a'), always(BOB, 'b'), always(MALLORY, 'f')]
const TRIO = [ALICES, BOBS, MALLORYS]

const GROUP: Case[] = [
  { what: 'everybody is named', intended: ALL, is: 'meant' },
  { what: 'everybody but the sender is named', intended: [THE_BOT, B], is: 'meant' },
  {
    what: 'somebody is missing who was always listed',
    list: TRIO,
    past: PAST,
    intended: ALL,
    is: 'other',
  },
  {
    what: 'somebody is missing who was listed after it was signed',
    list: TRIO,
    past: [...PAST.slice(0, 2), since(MALLORY, 'f', 1)],
    intended: ALL,
    is: 'not-for-all',
  },
  {
    what: 'somebody is missing who was listed less than an hour before',
    list: TRIO,
    past: [...PAST.slice(0, 2), since(MALLORY, 'f', 1 - HOUR)],
    intended: ALL,
    is: 'not-for-all',
  },
  {
    what: 'somebody is missing who was listed an hour before',
    list: TRIO,
    past: [...PAST.slice(0, 2), since(MALLORY, 'f', -HOUR)],
    intended: ALL,
    is: 'other',
  },
  {
    what: 'somebody is missing of whom no listing was recorded',
    list: TRIO,
    past: PAST.slice(0, 2),
    intended: ALL,
    is: 'other',
  },
  {
    what: 'one who is missing is excused and another is not',
    list: [...TRIO, CAROLS],
    past: [...PAST, since(CAROL, 'c', 1)],
    intended: ALL,
    is: 'other',
  },
  {
    what: 'somebody is missing whose key can be used no more',
    list: [ALICES, BOBS, person(MALLORY, 'f', { unusable: 'expired' })],
    past: PAST,
    intended: ALL,
    is: 'meant',
  },
  {
    what: 'somebody is missing whose key not every program encrypts to',
    list: [ALICES, BOBS, withAlgorithm(MALLORYS, 'X448')],
    past: PAST,
    intended: ALL,
    is: 'not-for-all',
  },
  {
    what: 'somebody is named by the certificate before, which changed since',
    list: [ALICES, person(BOB, 'c')],
    past: [...PAST, since(BOB, 'c', -5 * HOUR)],
    intended: ALL,
    is: 'not-for-all',
  },
  {
    what: 'somebody changed the certificate after it was signed, and neither is named',
    list: [ALICES, BOBS, person(MALLORY, 'c')],
    past: [...PAST, since(MALLORY, 'c', 1)],
    intended: ALL,
    is: 'not-for-all',
  },
  { what: 'somebody is named who was never here', past: PAST, intended: [...ALL, C], is: 'other' },
  { what: 'somebody is named who was here once', past: PAST, intended: [...ALL, M], is: 'meant' },
  {
    what: 'another’s certificate was once listed as hers, and that one is named',
    list: [ALICES, MALLORYS],
    past: [always(BOB, 'b'), always(MALLORY, 'b'), always(MALLORY, 'f')],
    intended: ALL,
    is: 'other',
  },
  {
    what: 'another’s subkey is in her certificate beside her own, and that one is named',
    list: [ALICES, BOBS, withKeys(MALLORYS, 'f', 'b')],
    past: PAST,
    intended: ALL,
    is: 'other',
  },
  {
    what: 'nothing but a named person’s subkey is in her certificate',
    list: [ALICES, BOBS, withKeys(MALLORYS, 'b')],
    past: PAST,
    intended: ALL,
    is: 'meant',
  },
  {
    what: 'a subkey of somebody who is missing is named',
    list: TRIO,
    past: PAST,
    intended: [...ALL, subkey('f')],
    is: 'other',
  },
  {
    what: 'a copy of the sender’s certificate is listed',
    list: [ALICES, BOBS, person(MALLORY, 'a')],
    intended: ALL,
    is: 'meant',
  },
  {
    what: 'a copy of the bot’s certificate is listed',
    list: [ALICES, BOBS, person(MALLORY, 'd')],
    intended: ALL,
    is: 'meant',
  },
  {
    what: 'it is signed by the sender’s former certificate, which it names',
    intended: [THE_BOT, C, B],
    signer: C,
    is: 'meant',
  },
  {
    what: 'the bot’s own words name everybody',
    from: BOT,
    signer: THE_BOT,
    intended: ALL,
    is: 'meant',
  },
  {
    what: 'the bot’s own words miss somebody',
    from: BOT,
    signer: THE_BOT,
    intended: [THE_BOT, A],
    past: PAST,
    is: 'other',
  },
  {
    what: 'its sender is not on the list',
    list: [BOBS, MALLORYS],
    past: PAST,
    intended: [...ALL, M],
    is: 'other',
  },
]

const DAY = 24 * HOUR

/** What a lying service, a member in league with it, or a hostile app tries beside. */
const HOSTILE: Case[] = [
  { what: 'everybody is named twice', intended: [...ALL, ...ALL], is: 'meant' },
  { what: 'a name is empty', intended: [...ALL, ''], past: PAST, is: 'other' },
  {
    what: 'a name is as long as one of version 6',
    intended: [...ALL, M + M.slice(16)],
    past: PAST,
    is: 'other',
  },
  {
    what: 'a name is the end of a fingerprint',
    intended: [THE_BOT, A, B.slice(24)],
    past: PAST,
    is: 'other',
  },
  {
    what: 'somebody is missing who left and came back',
    list: TRIO,
    past: [...PAST, since(BOB, 'b', DAY), since(MALLORY, 'f', DAY)],
    intended: ALL,
    is: 'other',
  },
  {
    what: 'somebody is missing who came back under another number, as a new member',
    list: [ALICES, BOBS, person(10, 'f')],
    past: [...PAST, since(10, 'f', 1)],
    intended: ALL,
    is: 'not-for-all',
  },
  {
    what: 'words were held back until a member was made',
    list: TRIO,
    past: [...PAST.slice(0, 2), since(MALLORY, 'f', 29 * DAY)],
    intended: ALL,
    is: 'not-for-all',
  },
  {
    what: 'of two listings of one person the first is long ago',
    list: [...TRIO, person(MALLORY, 'c')],
    past: [...PAST, since(MALLORY, 'c', 1)],
    intended: ALL,
    is: 'other',
  },
  {
    what: 'a copy of a named certificate is listed',
    list: [...TRIO.slice(0, 2), person(MALLORY, 'b')],
    past: PAST,
    intended: ALL,
    is: 'meant',
  },
  {
    what: 'a certificate that was Bob’s first is claimed later by who reads now',
    list: [ALICES, MALLORYS],
    past: [...PAST, since(MALLORY, 'b', -DAY)],
    intended: ALL,
    is: 'other',
  },
  {
    what: 'nothing that is listed can be parsed',
    list: [ALICES, person(BOB, 'b', { fingerprint: null, unusable: 'unparseable' })],
    intended: ALL,
    is: 'other',
  },
  {
    what: 'the bot is on the list under its own number',
    list: [ALICES, BOBS, person(BOT, 'f')],
    past: PAST,
    intended: ALL,
    is: 'meant',
  },
  {
    what: 'the sender has two certificates on the list, and names one',
    list: [ALICES, BOBS, person(ALICE, 'f')],
    past: PAST,
    intended: ALL,
    is: 'meant',
  },
  {
    what: 'her certificate lists the bot’s subkey beside her own',
    list: [ALICES, BOBS, withKeys(MALLORYS, 'f', 'e')],
    past: PAST,
    intended: ALL,
    is: 'meant',
  },
]

function withAlgorithm(one: Person, algorithm: string): Person {
  return { ...one, certificateStatus: { ...one.certificateStatus, algorithm } }
}

function withKeys(one: Person, ...digits: string[]): Person {
  const encryptionKeys = digits.map(subkey)
  return { ...one, certificateStatus: { ...one.certificateStatus, encryptionKeys } }
}

describe('words in a group whose signature names recipients', () => {
  test.each([...GROUP, ...HOSTILE])(
    'are $is where $what, whatever the packets say',
    async (one) => {
      const { all, audience } = scene()
      all.list = listOf(one.list ?? [ALICES, BOBS])
      all.past = one.past ?? []
      const more = {
        intended: one.intended,
        ...(one.from !== undefined && { fromId: one.from }),
        ...(one.signer !== undefined && { signer: one.signer }),
      }
      for (const to of [['e'], ['e', 'a', 'b'], ['e', 'f'], ['e', '9'], []]) {
        for (const hasUnnamed of [true, false]) {
          expect(await audience(to, { ...more, hasUnnamed })).toBe(one.is)
        }
      }
    },
  )

  test('are other where more are listed than any message fits', async () => {
    const { all, audience } = scene()
    all.list = listOf([], 3000)
    expect(await audience(['e'], { intended: [THE_BOT, A] })).toBe('other')
  })

  test('are judged by the list as it is now before anything is said of them', async () => {
    const { all, audience } = scene()
    all.mayAskAgain = true
    all.list = listOf(TRIO)
    all.past = PAST
    all.fresh = listOf([ALICES, BOBS])
    expect(await audience(['e'], { intended: ALL })).toBe('meant')
  })

  test('need not name whom the bot would not answer', async () => {
    const { all, parts, audience } = scene()
    all.list = listOf(TRIO)
    all.past = PAST
    Object.assign(parts.trust, { distrust: (id: number) => (id === MALLORY ? 'blocked' : null) })
    expect(await audience(['e'], { intended: ALL })).toBe('meant')
  })
})

describe('words in Alice’s private chat whose signature names recipients', () => {
  const cases: Omit<Case, 'list'>[] = [
    { what: 'nobody but the bot and Alice is named', intended: [THE_BOT, A], is: 'meant' },
    { what: 'the bot alone is named', intended: [THE_BOT], is: 'meant' },
    { what: 'Alice’s subkey is named', intended: [THE_BOT, subkey('a')], is: 'meant' },
    { what: 'Bob is named too', intended: ALL, is: 'other' },
    { what: 'somebody unknown is named too', intended: [THE_BOT, A, M], is: 'other' },
    {
      what: 'Alice’s certificate before is named',
      intended: [THE_BOT, C],
      past: [always(ALICE, 'c')],
      is: 'meant',
    },
    {
      what: 'Bob’s certificate is named, and he was listed there once',
      intended: ALL,
      past: [always(BOB, 'b')],
      is: 'other',
    },
    {
      what: 'the certificate that verified is named',
      intended: [THE_BOT, C],
      signer: C,
      is: 'meant',
    },
    {
      what: 'the bot’s own words are for Alice',
      from: BOT,
      signer: THE_BOT,
      intended: [THE_BOT, A],
      is: 'meant',
    },
    {
      what: 'the bot’s own words are for Bob',
      from: BOT,
      signer: THE_BOT,
      intended: [THE_BOT, B],
      is: 'other',
    },
  ]
  test.each(cases)('are $is where $what, whatever the packets say', async (one) => {
    const { all, audience } = scene()
    all.isPrivate = true
    all.past = one.past ?? []
    const more = {
      intended: one.intended,
      ...(one.from !== undefined && { fromId: one.from }),
      ...(one.signer !== undefined && { signer: one.signer }),
    }
    for (const to of [['e'], ['e', 'a'], ['e', 'b'], ['e', '9']]) {
      for (const hasUnnamed of [true, false]) {
        expect(await audience(to, { ...more, hasUnnamed })).toBe(one.is)
      }
    }
  })

  test('are judged once more by a certificate that is asked for afresh', async () => {
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

describe('a sender who has a certificate and is not on the group’s list', () => {
  test.each([SIGNED_MS, null])('is in another group, signed at %j', async (signedAtMs) => {
    const { all, audience } = scene()
    all.list = listOf([BOBS, MALLORYS])
    const hers = { signedAtMs }
    expect(await audience(['e', 'a', 'b'], hers)).toBe('other')
    expect(await audience(['e'], { ...hers, hasUnnamed: true })).toBe('other')
    all.signer = null
    expect(await audience(['e', 'b', 'f'], hers), 'without a certificate nobody is listed').toBe(
      'meant',
    )
  })

  test('is on it once it is asked for afresh', async () => {
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
  ])('in a group reach more than one person of it: %j is %s', async (to, is) => {
    const { all, audience } = scene()
    all.list = listOf(TRIO)
    for (const fromId of [ALICE, BOB]) {
      expect(await audience(to, { ...unsigned, fromId })).toBe(is)
    }
  })

  test('to a key that two people list reach one of them at most', async () => {
    const { all, audience } = scene()
    all.list = listOf([ALICES, BOBS, withKeys(MALLORYS, 'f', 'a')])
    expect(await audience(['e', 'a'], { ...unsigned, fromId: MALLORY })).toBe('other')
    expect(await audience(['e', 'a', 'f'], { ...unsigned, fromId: MALLORY })).toBe('other')
    expect(await audience(['e', 'a', 'b'], { ...unsigned, fromId: MALLORY })).toBe('meant')
  })

  test('of the one person of a group who has a key are for it', async () => {
    const { all, audience } = scene()
    all.list = listOf([ALICES])
    expect(await audience(['e', 'a'], unsigned)).toBe('meant')
    all.signer = null
    expect(await audience(['e', 'a'], { ...unsigned, fromId: MALLORY })).toBe('other')
  })

  test.each([
    [
      'Alice, the first',
      new Map([
        [ALICE, 1],
        [MALLORY, 2],
      ]),
      [],
      'meant',
    ],
    [
      'Mallory, the first',
      new Map([
        [ALICE, 2],
        [MALLORY, 1],
      ]),
      [],
      'other',
    ],
    [
      'nobody of two at once',
      new Map([
        [ALICE, 1],
        [MALLORY, 1],
      ]),
      [],
      'other',
    ],
    [
      'Alice, whom the operator names',
      new Map([
        [ALICE, 2],
        [MALLORY, 1],
      ]),
      [ALICE],
      'meant',
    ],
    [
      'Mallory, whom the operator names',
      new Map([
        [ALICE, 1],
        [MALLORY, 2],
      ]),
      [MALLORY],
      'other',
    ],
    [
      'the first of two whom the operator names',
      new Map([
        [ALICE, 1],
        [MALLORY, 2],
      ]),
      [ALICE, MALLORY],
      'meant',
    ],
  ] as const)('in private, a key speaks for %s', async (_, owners, named, is) => {
    const { all, audience } = scene()
    all.isPrivate = true
    all.owners.set('a'.repeat(16), owners)
    all.named = [...named]
    expect(await audience(['e', 'a'], unsigned)).toBe(is)
    expect(await audience(['e', 'a']), 'who signs has shown who they are').toBe('meant')
  })
})
