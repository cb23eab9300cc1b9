/** The audience of a message by its recipient packets, in a group and in a private chat. */
import { expect, test } from 'vitest'
import { useFakeTime } from '../../support/fake-time.ts'
import type { Person } from '../../../src/kernel/people/person.ts'
import {
  ALICE,
  ALICES,
  BOB,
  BOBS,
  BOT,
  CAROL,
  MALLORY,
  keyId,
  listOf,
  listing,
  person,
  primary,
  scene,
  subkey,
} from './audience-scene.ts'
import { NoResponseError, Refusal } from '../../../src/errors.ts'
import { judgeAudience } from '../../../src/kernel/opening/audience.ts'
import type { ExamineParts } from '../../../src/kernel/opening/examine.ts'
import type { Judged } from '../../../src/kernel/opening/signatures.ts'

useFakeTime({ toFake: ['performance'] })

test('a message in a group sealed to one of its members is accepted there', async () => {
  const { ask, asked } = scene()
  expect(await ask(['e', 'a', 'b'])).toBe(false)
  expect(await ask(['b'])).toBe(false)
  expect(await ask(['c', 'b'])).toBe(false)
  expect(asked.keyList.mock.calls[0]).toEqual([50, performance.now() - 600_000])
})

test.each([[['e', 'a']], [['e']], [[]], [['e', 'a', 'c']]])(
  'a message in a group sealed to %j is for another chat',
  async (to) => {
    expect(await scene().ask(to)).toBe(true)
  },
)

test('a message in a group with an unknown recipient is not judged by its recipients', async () => {
  expect(await scene().ask(['e', 'f'])).toBe(false)
})

test('a message in a group with an anonymous recipient is not judged by its recipients', async () => {
  const { ask, asked } = scene()
  expect(await ask(['e'], { hasUnnamed: true })).toBe(false)
  expect(asked.keyList).toHaveBeenCalledTimes(1)
})

test('a message in a group without a sender, or with `open.audience: off`, is not judged', async () => {
  const { all, ask } = scene()
  expect(await ask(['e'], { fromId: null })).toBe(false)
  all.audience = 'off'
  expect(await ask(['e'])).toBe(false)
})

test('a message is accepted in a group without another usable certificate', async () => {
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

test('a message in a group sealed to a key once listed for a member is accepted there', async () => {
  const { all, ask } = scene()
  all.owners.set(keyId('c'), new Set([CAROL, BOB]))
  expect(await ask(['e', 'c'])).toBe(false)
  all.owners.set(keyId('c'), new Set([CAROL, ALICE, BOB]))
  expect(await ask(['e', 'c']), 'a key of the sender’s is no reader of the group').toBe(true)
})

test('a subkey of the sender or the bot in another person’s certificate makes nobody a recipient', async () => {
  const { all, ask } = scene()
  for (const digit of ['a', 'e']) {
    for (const keys of [['f', digit], [digit]]) {
      all.list = listOf([ALICES, listing(MALLORY, ...keys)])
      expect(await ask(['e', 'a'])).toBe(true)
      all.list = listOf([ALICES, BOBS, listing(MALLORY, ...keys)])
      expect(await ask(['e', 'a', 'b'])).toBe(false)
    }
  }
})

test('the bot’s own message in a group is judged by its recipients too', async () => {
  const { all, ask, asked } = scene()
  expect(await ask(['e', 'c'], { fromId: BOT })).toBe(true)
  expect(await ask(['e', 'a'], { fromId: BOT })).toBe(false)
  expect(asked.signer).not.toHaveBeenCalled()
  all.list = listOf([])
  expect(await ask(['e'], { fromId: BOT })).toBe(false)
})

test('a message of a sender outside the key list is judged by the sender’s own certificate', async () => {
  const { all, ask, asked } = scene()
  all.list = listOf([BOBS])
  expect(await ask(['e', 'a'])).toBe(true)
  expect(asked.signer.mock.calls[0]).toEqual([ALICE, 50])
  all.signer = null
  all.owners.delete(keyId('a'))
  expect(await ask(['e', 'a'])).toBe(false)
  expect(await ask(['e'])).toBe(true)
})

test('a message in a group is judged by a fresh key list before it is withheld, unless requested in vain', async () => {
  const { all, ask, asked } = scene()
  all.mayAskAgain = true
  all.fresh = listOf([ALICES, BOBS, person(CAROL, 'c')])
  expect(await ask(['e', 'c'])).toBe(false)
  expect(asked.askedInVain.mock.calls).toEqual([[ALICE, 50]])
  all.fresh = listOf([ALICES, BOBS])
  expect(await ask(['e', 'c'])).toBe(true)
  all.fresh = undefined
  expect(await ask(['e', 'c'])).toBe(true)
  all.fresh = listOf([ALICES, BOBS, person(CAROL, 'c')])
  all.mayAskAgain = false
  expect(await ask(['e', 'c'])).toBe(true)
})

test('a message is accepted in a group with its sender alone listed, under two certificates', async () => {
  const { all, ask } = scene()
  all.list = listOf([ALICES, person(ALICE, 'f')])
  expect(await ask(['e', 'a'])).toBe(false)
})

test('a message of a sender without a certificate is judged by its intended recipients', async () => {
  const { all, ask } = scene()
  all.signer = null
  all.list = listOf([BOBS])
  expect(await ask(['b'], { intended: [primary('d')] })).toBe(true)
})

test('a message whose signature intends only the sender and the bot is for another chat', async () => {
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
])('a message in a private chat sealed to %j is for another chat: %s', async (to, isOther) => {
  const { ask, asked } = withAlice()
  expect(await ask(to)).toBe(isOther)
  expect(asked.keyList).not.toHaveBeenCalled()
})

test('a message in a private chat with an anonymous recipient is not judged by its recipients', async () => {
  expect(await withAlice().ask(['b'], { hasUnnamed: true })).toBe(false)
})

test('the bot’s own message in a private chat is for its person alone', async () => {
  const { all, ask } = withAlice()
  expect(await ask(['a'], { fromId: BOT })).toBe(false)
  expect(await ask(['b'], { fromId: BOT })).toBe(true)
  all.personId = null
  expect(await ask(['a'], { fromId: BOT })).toBe(true)
})

test('a message in a private chat is judged again by a certificate that is requested anew', async () => {
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

test('the certificate of a private chat’s person is not requested twice in vain', async () => {
  const { all, ask, asked } = withAlice()
  all.mayAskAgain = true
  expect(await ask(['b'], { fromId: BOT })).toBe(true)
  expect(asked.signer.mock.calls).toEqual([[ALICE, 50, 7]])
  all.mayAskAgain = false
  expect(await ask(['b'])).toBe(true)
  expect(asked.signer).toHaveBeenCalledTimes(1)
})

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
  judgeAudience(judged, opened, place, { ...parts, audience: 'check' } as unknown as ExamineParts)

test.each(['verified', 'unsigned'] as const)(
  'a message judged as %s may be for another chat',
  async (verdict) => {
    const judged = { verdict }
    expect(await judge(judged, scene())).toEqual({ judged, isForOtherChat: true })
  },
)

test('the audience is judged by the intended recipients of the valid signature', async () => {
  const one = scene()
  const withUnnamed = { ...(opened as object), recipients: { ...recipients, hasUnnamed: true } }
  const parts = { ...one.parts, audience: 'check' } as unknown as ExamineParts
  for (const [signatureDigest, isForOther] of [
    ['first', false],
    ['second', true],
  ] as const) {
    const judged = { verdict: 'verified', signatureDigest } as const
    const result = await judgeAudience(judged, withUnnamed as never, place, parts)
    expect(result.isForOtherChat).toBe(isForOther)
  }
})

test('the audience has no verdict when the store fails', async () => {
  const one = scene()
  const unwritable = new Refusal('postern_store_unwritable')
  const keyList = () => Promise.reject(unwritable)
  Object.assign(one.parts.directory, { keyList })
  await expect(judge({ verdict: 'verified' }, one)).rejects.toBe(unwritable)
})

test.each([
  [new NoResponseError('postern_upstream_timeout'), 'failed'],
  [new Refusal('postern_route_refused'), undefined],
])('a message is withheld while the key list is unavailable: %s', async (error, transientError) => {
  const one = scene()
  one.asked.keyList.mockRejectedValue(error)
  const { keyList } = one.asked
  Object.assign(one.parts.directory, { keyList })
  expect(await judge({ verdict: 'verified' }, one)).toEqual({
    judged: {
      verdict: 'signer-unavailable',
      reason: 'audience-unavailable',
      ...(transientError !== undefined && { transientError }),
    },
    isForOtherChat: false,
  })
})
