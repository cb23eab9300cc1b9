import { describe, expect, test, vi } from 'vitest'
import { NoResponseError } from '../../src/errors.ts'
import type { KeyList } from '../../src/keys/directory.ts'
import type { Person } from '../../src/keys/person.ts'
import {
  isForOtherChat,
  judgeAudience,
  type Addressed,
  type AudienceParts,
} from '../../src/translate/audience.ts'
import type { Judged } from '../../src/translate/signatures.ts'

const [BOT, ALICE, BOB, CAROL] = [1, 5, 6, 7]
/** Fingerprints of subkeys end in the key id. */
const keyId = (digit: string): string => digit.repeat(16)
const subkey = (digit: string): string => '0'.repeat(24) + keyId(digit)
const primary = (digit: string): string => digit.repeat(40)

function person(userId: number, digit: string, more: Partial<Person> = {}): Person {
  const certificateStatus = {
    encryptionKeys: [subkey(digit)],
  } as unknown as Person['certificateStatus']
  return { userId, fingerprint: primary(digit), unusable: null, certificateStatus, ...more }
}

const ALICES = person(ALICE, 'a')
const BOBS = person(BOB, 'b')

const listOf = (people: Person[], tooMany: number | null = null): KeyList =>
  ({ people, tooMany }) as KeyList

/** A group of Alice, Bob and the bot; private chats are with Alice. A test changes it. */
function scene() {
  const all = {
    isPrivate: false,
    personId: ALICE as number | null,
    list: listOf([ALICES, BOBS]),
    fresh: undefined as KeyList | undefined,
    mayAskAgain: false,
    signer: ALICES as Person | null,
    owners: new Map<string, Set<number>>([
      [keyId('a'), new Set([ALICE])],
      [keyId('b'), new Set([BOB])],
      [keyId('c'), new Set([CAROL])],
    ]),
    audience: 'check',
  }
  const asked = {
    keyList: vi.fn((_chatId: number, sinceMs: number) =>
      Promise.resolve(sinceMs === 7 ? (all.fresh ?? all.list) : all.list),
    ),
    signer: vi.fn((_userId: number, _chatId: number, _sinceMs?: number) =>
      Promise.resolve(all.signer),
    ),
    askedInVain: vi.fn(),
  }
  const parts = {
    directory: { ...asked, mayAskAgain: () => all.mayAskAgain },
    keyring: {
      unlocked: [{ fingerprints: [primary('d'), subkey('e')], keyIds: [keyId('e')] }],
      fingerprints: new Set([primary('d')]),
    },
    knownKeys: {
      ownersOf: (ids: string[]) =>
        Promise.resolve(
          new Map(
            ids.flatMap((id) => (all.owners.has(id) ? [[id, all.owners.get(id)]] : [])) as never,
          ),
        ),
    },
    knownChats: {
      isPrivate: () => all.isPrivate,
      personOf: () => (all.isPrivate ? all.personId : null),
    },
    botId: () => BOT,
  }
  const ask = (to: string[], more: Partial<Addressed> & { hasUnnamed?: boolean } = {}) => {
    const { hasUnnamed = false, ...place } = more
    const keyIds = Uint8Array.from(Buffer.from(to.map(keyId).join(''), 'hex'))
    const recipients = { keyIds, hasUnnamed } as Addressed['recipients']
    const message = {
      recipients,
      intended: [],
      chatId: 50,
      fromId: ALICE,
      receivedAtMs: 7,
      ...place,
    }
    return isForOtherChat(message, { ...parts, audience: all.audience } as unknown as AudienceParts)
  }
  return { all, asked, parts, ask }
}

describe('a message in a group', () => {
  test('is for it when somebody of the group is among the recipients', async () => {
    const { ask, asked } = scene()
    expect(await ask(['e', 'a', 'b'])).toBe(false)
    expect(await ask(['b'])).toBe(false)
    expect(await ask(['c', 'b'])).toBe(false)
    const [chatId, sinceMs = NaN] = asked.keyList.mock.calls[0] ?? []
    expect(chatId).toBe(50)
    expect(Math.abs(performance.now() - 600_000 - sinceMs)).toBeLessThan(30_000)
  })

  test.each([[['e', 'a']], [['e']], [[]], [['e', 'a', 'c']]])(
    'is for another chat when it is sealed to %j, none of whom is of the group',
    async (to) => {
      expect(await scene().ask(to)).toBe(true)
    },
  )

  test('is not judged where a recipient is nobody’s known', async () => {
    expect(await scene().ask(['e', 'f'])).toBe(false)
  })

  test('is not judged where a recipient is not named', async () => {
    const { ask, asked } = scene()
    expect(await ask(['e'], { hasUnnamed: true })).toBe(false)
    expect(asked.keyList).not.toHaveBeenCalled()
  })

  test('is not judged where that is switched off, or nobody is said to have sent it', async () => {
    const { all, ask } = scene()
    expect(await ask(['e'], { fromId: null })).toBe(false)
    all.audience = 'off'
    expect(await ask(['e'])).toBe(false)
  })

  test('is for it when nobody else could read it', async () => {
    const { all, ask } = scene()
    for (const bob of [
      [],
      [person(BOB, 'b', { unusable: 'expired' as Person['unusable'] })],
      [person(BOB, 'a')],
      [person(BOB, 'd')],
      [person(BOT, 'b')],
    ]) {
      all.list = listOf([ALICES, ...bob])
      expect(await ask(['e', 'a'])).toBe(false)
    }
    all.list = listOf([], 1000)
    expect(await ask(['e', 'a']), 'of a list that is too long nobody was judged').toBe(true)
  })

  test('is for it when a recipient was seen with somebody of the group', async () => {
    const { all, ask } = scene()
    all.owners.set(keyId('c'), new Set([CAROL, BOB]))
    expect(await ask(['e', 'c'])).toBe(false)
    all.owners.set(keyId('c'), new Set([CAROL, ALICE, BOB]))
    expect(await ask(['e', 'c']), 'a key of the sender’s is no reader of the group').toBe(true)
  })

  test('by the bot is for it as any other', async () => {
    const { all, ask, asked } = scene()
    expect(await ask(['e', 'c'], { fromId: BOT })).toBe(true)
    expect(await ask(['e', 'a'], { fromId: BOT })).toBe(false)
    expect(asked.signer).not.toHaveBeenCalled()
    all.list = listOf([])
    expect(await ask(['e'], { fromId: BOT })).toBe(false)
  })

  test('by somebody who is not listed is judged by their own record', async () => {
    const { all, ask, asked } = scene()
    all.list = listOf([BOBS])
    expect(await ask(['e', 'a'])).toBe(true)
    expect(asked.signer.mock.calls[0]).toEqual([ALICE, 50])
    all.signer = null
    all.owners.delete(keyId('a'))
    expect(await ask(['e', 'a'])).toBe(false)
    expect(await ask(['e'])).toBe(true)
  })

  test('is judged by the list as it is now before anything is withheld', async () => {
    const { all, ask, asked } = scene()
    all.mayAskAgain = true
    all.fresh = listOf([ALICES, BOBS, person(CAROL, 'c')])
    expect(await ask(['e', 'c'])).toBe(false)
    expect(asked.askedInVain.mock.calls).toEqual([[ALICE, 50]])
    all.fresh = listOf([ALICES, BOBS])
    expect(await ask(['e', 'c'])).toBe(true)
    all.fresh = undefined
    expect(await ask(['e', 'c'])).toBe(true)
  })

  test('is judged by the list as it was where it was asked for in vain already', async () => {
    const { all, ask, asked } = scene()
    all.fresh = listOf([ALICES, BOBS, person(CAROL, 'c')])
    expect(await ask(['e', 'c'])).toBe(true)
    expect(asked.keyList).toHaveBeenCalledTimes(1)
  })

  test('is for it when a recipient is listed now whose key was seen with nobody, or elsewhere', async () => {
    const { all, ask } = scene()
    all.owners.set(keyId('b'), new Set([CAROL]))
    expect(await ask(['e', 'b'])).toBe(false)
  })

  test('by somebody who is listed is judged by the list', async () => {
    const { all, ask, asked } = scene()
    all.signer = null
    expect(await ask(['e', 'a'])).toBe(true)
    expect(asked.signer).not.toHaveBeenCalled()
  })

  test('is for it when the sender lists several certificates, and nobody else reads', async () => {
    const { all, ask } = scene()
    all.list = listOf([ALICES, person(ALICE, 'f')])
    expect(await ask(['e', 'a'])).toBe(false)
  })

  test('by nobody’s certificate is judged by what its signature names', async () => {
    const { all, ask } = scene()
    all.signer = null
    all.list = listOf([BOBS])
    expect(await ask(['b'], { intended: [primary('d')] })).toBe(true)
  })

  test('is for another chat when its signature names nobody but the sender and the bot', async () => {
    const { ask } = scene()
    const own = [primary('d'), subkey('e')]
    for (const intended of [own, [primary('a')], [...own, subkey('a')]]) {
      expect(await ask(['b'], { intended })).toBe(true)
      expect(await ask(['b'], { intended, hasUnnamed: true })).toBe(true)
    }
    const toBob = { intended: [...own, primary('b')] }
    expect(await ask(['b'], toBob)).toBe(false)
    expect(await ask(['e'], { ...toBob, hasUnnamed: true })).toBe(false)
  })
})

describe('a message in a private chat', () => {
  function withAlice() {
    const made = scene()
    made.all.isPrivate = true
    return made
  }

  test.each([
    [['e', 'a'], false],
    [['e'], false],
    [['e', 'f'], false],
    [['e', 'b'], true],
  ])('sealed to %j is for another chat: %s', async (to, isOther) => {
    const { ask, asked } = withAlice()
    expect(await ask(to)).toBe(isOther)
    expect(asked.keyList).not.toHaveBeenCalled()
  })

  test('is not judged where a recipient is not named', async () => {
    expect(await withAlice().ask(['b'], { hasUnnamed: true })).toBe(false)
    expect(await withAlice().ask(['b'], { hasUnnamed: true, intended: ['x'] })).toBe(false)
  })

  test('by the bot is for its person', async () => {
    const { all, ask } = withAlice()
    expect(await ask(['a'], { fromId: BOT })).toBe(false)
    expect(await ask(['b'], { fromId: BOT })).toBe(true)
    all.personId = null
    expect(await ask(['a'], { fromId: BOT })).toBe(true)
  })

  test('is judged once more when the person’s own certificate was asked for', async () => {
    const { all, ask, asked } = withAlice()
    all.mayAskAgain = true
    asked.signer.mockImplementation(() => {
      all.owners.set(keyId('b'), new Set([BOB, ALICE]))
      return Promise.resolve(all.signer)
    })
    expect(await ask(['b'])).toBe(false)
    expect(asked.signer.mock.calls).toEqual([[ALICE, 50, 7]])
    expect(asked.askedInVain.mock.calls).toEqual([[ALICE, 50]])
  })

  test('asks for no certificate of the bot’s, and for none in vain twice', async () => {
    const { all, ask, asked } = withAlice()
    all.mayAskAgain = true
    expect(await ask(['b'], { fromId: BOT })).toBe(true)
    expect(asked.signer.mock.calls).toEqual([[ALICE, 50, 7]])
    all.mayAskAgain = false
    expect(await ask(['b'])).toBe(true)
    expect(asked.signer).toHaveBeenCalledTimes(1)
  })
})

describe('what was judged by its signatures', () => {
  const recipients = { keyIds: Uint8Array.from(Buffer.from(keyId('e'), 'hex')), hasUnnamed: false }
  const place = { chatId: 50, fromId: ALICE, receivedAtMs: 7 }
  const opened = {
    recipients,
    signatures: [
      { digest: 'first', intended: [primary('b')] },
      { digest: 'second', intended: [primary('a')] },
    ],
    signed: {},
  } as never
  const judge = (judged: Judged, { parts }: ReturnType<typeof scene>) =>
    judgeAudience(judged, opened, place, {
      ...parts,
      audience: 'check',
    } as unknown as AudienceParts)

  test.each(['verified', 'unsigned'] as const)('as %s may be for another chat', async (verdict) => {
    const judged = { verdict }
    expect(await judge(judged, scene())).toEqual({ judged, isForOtherChat: true })
  })

  test('as anything else is not asked about', async () => {
    const one = scene()
    const judged = { verdict: 'bad-signature' } as const
    expect(await judge(judged, one)).toEqual({ judged, isForOtherChat: false })
    expect(one.asked.keyList).not.toHaveBeenCalled()
  })

  test('counts by the recipients of the signature that is valid', async () => {
    const one = scene()
    const withUnnamed = { ...(opened as object), recipients: { ...recipients, hasUnnamed: true } }
    const parts = { ...one.parts, audience: 'check' } as unknown as AudienceParts
    for (const [signatureDigest, isForOther] of [
      ['first', false],
      ['second', true],
    ] as const) {
      const judged = { verdict: 'verified', signatureDigest } as const
      const result = await judgeAudience(judged, withUnnamed as never, place, parts)
      expect(result.isForOtherChat).toBe(isForOther)
    }
  })

  test.each([
    [new NoResponseError('postern_upstream_timeout'), 'failed'],
    [new Error('odd'), undefined],
  ])('is withheld where the people cannot be asked for: %s', async (error, passing) => {
    const one = scene()
    one.asked.keyList.mockRejectedValue(error)
    const { keyList } = one.asked
    Object.assign(one.parts.directory, { keyList })
    expect(await judge({ verdict: 'verified' }, one)).toEqual({
      judged: {
        verdict: 'signer-unavailable',
        reason: 'audience-unavailable',
        ...(passing !== undefined && { passing }),
      },
      isForOtherChat: false,
    })
  })
})
