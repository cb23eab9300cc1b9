/** Decisions of the operator about people, and the use of their certificates by policy and listing. */
import type { TrustPolicy } from '../../../src/kernel/index.ts'
import { expect, test, vi } from 'vitest'
import { useFakeTime } from '../../support/fake-time.ts'
import type { Trust } from '../../../src/kernel/people/trust.ts'
import { A, B, C, of, trusting } from './trust-scene.ts'

const START_MS = 1_000_000
useFakeTime({ now: START_MS, toFake: ['Date'] })

test('`trust accept` accepts the listed certificate, and forgets that the person signs', async () => {
  const { trust, people, changes, store } = await trusting()
  await trust.saw([of(1, A)])
  await trust.saw([of(1, B)])
  await people.rememberSigned([1, 2], 'words')
  await people.rememberSigned([1], 'file')
  changes.length = 0
  vi.setSystemTime(START_MS + 5)
  const pin = await trust.decisions.accept(1)
  expect(pin).toEqual({
    userId: 1,
    fingerprint: B,
    sinceMs: START_MS + 5,
    standing: 'accepted',
    listed: B,
    listedAtMs: START_MS,
    former: { fingerprint: A, changedAtMs: START_MS, wasPinned: true },
  })
  expect(changes).toEqual([{ kind: 'accepted', userId: 1, detail: { fingerprint: B } }])
  const again = await trusting({ store })
  for (const one of [{ trust, people }, again]) {
    expect(one.trust.all).toEqual([pin])
    expect([one.people.ownerOf(B), one.trust.standingOf(1) === 'verified']).toEqual([1, false])
    expect(['words', 'file'].map((kind) => one.people.hasSigned(1, kind as 'file'))).toEqual([
      false,
      false,
    ])
    expect(one.people.hasSigned(2, 'words')).toBe(true)
  }
})

test('`trust accept` with a fingerprint accepts only the listed one, in any spelling', async () => {
  const { trust, changes } = await trusting()
  await trust.saw([of(1, A)])
  await expect(trust.decisions.accept(1, B)).rejects.toMatchObject({
    code: 'refused',
    message: expect.stringContaining(`the service lists ${A} for person 1`),
    hint: expect.stringContaining('nothing was changed'),
  })
  expect(changes).toEqual([])
  expect(
    (await trust.decisions.accept(1, `${'AAAA '.repeat(5)}\n${'aaaa\t'.repeat(5)}`)).standing,
  ).toBe('accepted')
})

test('`trust accept` is refused for a person without a listed certificate', async () => {
  const { trust } = await trusting()
  await trust.saw([of(1, A)])
  await trust.saw([of(1, null)])
  for (const userId of [1, 2]) {
    await expect(trust.decisions.accept(userId)).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining(`no certificate of person ${userId}`),
      hint: expect.stringContaining('postern trust verify'),
    })
  }
})

test('`trust accept` keeps a verified certificate verified, and makes a changed or blocked one accepted', async () => {
  const { trust } = await trusting()
  await trust.saw([of(1, A), of(2, C)])
  await trust.decisions.verify(1, A)
  expect((await trust.decisions.accept(1)).standing).toBe('verified')
  await trust.saw([of(1, B)])
  expect((await trust.decisions.accept(1)).standing).toBe('accepted')
  await trust.decisions.block(2)
  expect((await trust.decisions.accept(2)).standing).toBe('accepted')
})

test('`trust verify` pins a fingerprint of any person, and remembers that the person signs', async () => {
  const { trust, people, changes, store } = await trusting()
  await people.rememberSigned([1], 'words')
  vi.setSystemTime(START_MS + 5)
  const pin = await trust.decisions.verify(1, A.toUpperCase().replaceAll(/(.{4})/g, '$1 '))
  expect(pin).toEqual({
    userId: 1,
    fingerprint: A,
    sinceMs: START_MS + 5,
    standing: 'verified',
    listed: null,
    listedAtMs: null,
  })
  expect(changes).toEqual([{ kind: 'verified', userId: 1, detail: { fingerprint: A } }])
  for (const one of [{ trust, people }, await trusting({ store })]) {
    expect([
      one.trust.standingOf(1) === 'verified',
      one.trust.standingOf(2) === 'verified',
    ]).toEqual([true, false])
    expect([one.people.ownerOf(A), one.people.hasSigned(1, 'words')]).toEqual([1, true])
  }
})

test.each(['', 'a'.repeat(39), 'a'.repeat(41), 'g'.repeat(40), `x${'a'.repeat(40)}`])(
  '`trust verify` refuses %j as no fingerprint',
  async (text) => {
    const { trust, changes } = await trusting()
    await expect(trust.decisions.verify(1, text)).rejects.toMatchObject({
      code: 'usage',
      message: 'a fingerprint is 40 hexadecimal characters',
      hint: expect.stringContaining('copy it from the person’s app'),
    })
    expect([changes, trust.all]).toEqual([[], []])
  },
)

test('`trust block` blocks a listed or unknown person until `trust accept`', async () => {
  const { trust, changes, store } = await trusting()
  await trust.saw([of(1, A)])
  vi.setSystemTime(START_MS + 5)
  const seen = { fingerprint: A, listed: A, listedAtMs: START_MS }
  const blocked = { standing: 'blocked', sinceMs: START_MS + 5 }
  expect(await trust.decisions.block(1)).toEqual({ userId: 1, ...seen, ...blocked })
  const nothing = { fingerprint: null, listed: null, listedAtMs: null }
  expect(await trust.decisions.block(2)).toEqual({ userId: 2, ...nothing, ...blocked })
  await expect(trust.decisions.verify(2, A, { comparedWith: B })).rejects.toThrow('is blocked')
  expect(changes).toEqual([
    { kind: 'blocked', userId: 1, detail: {} },
    { kind: 'blocked', userId: 2, detail: {} },
  ])
  for (const one of [trust, (await trusting({ store })).trust]) {
    expect([1, 2, 3].map((userId) => one.standingOf(userId) === 'blocked')).toEqual([
      true,
      true,
      false,
    ])
  }
  await trust.decisions.accept(1)
  expect(trust.standingOf(1) === 'blocked').toBe(false)
})

const FOR_MS = 72 * 3_600_000
const former = { fingerprint: A, changedAtMs: START_MS, wasPinned: true }

async function changed(policy: TrustPolicy) {
  const scene = await trusting({ policy })
  await scene.trust.saw([of(1, A)])
  await scene.trust.saw([of(1, B)])
  return scene
}

test('the former certificate verifies signatures for 72 hours under accept and first-use, never under pinned', async () => {
  for (const policy of ['accept', 'first-use'] as const) {
    const { trust, store } = await changed(policy)
    for (const one of [trust, (await trusting({ store, policy })).trust]) {
      expect(one.formerOf(1, 50, START_MS + FOR_MS - 1)).toEqual(former)
      expect(one.formerOf(1, 50, START_MS + FOR_MS)).toBeNull()
      expect(one.formerOf(2, 50, START_MS)).toBeNull()
    }
  }
  expect((await changed('pinned')).trust.formerOf(1, 50, START_MS)).toBeNull()
})

test('a former certificate verifies under first-use only if it was the first one or accepted', async () => {
  const { trust } = await changed('first-use')
  await trust.saw([of(1, C)])
  expect(trust.formerOf(1, 50, START_MS)).toBeNull()
  await trust.decisions.accept(1)
  await trust.saw([of(1, A)])
  expect(trust.formerOf(1, 50, START_MS)).toMatchObject({ fingerprint: C, wasPinned: true })
})

test('the former certificate verifies nothing after `trust block`, or `trust verify` of another one', async () => {
  for (const [decide, is] of [
    [(trust: Trust) => trust.decisions.block(1), null],
    [(trust: Trust) => trust.decisions.verify(1, B), null],
    [(trust: Trust) => trust.decisions.verify(1, A), former],
    [(trust: Trust) => trust.decisions.accept(1), former],
  ] as const) {
    const { trust } = await changed('accept')
    await decide(trust)
    expect(trust.formerOf(1, 50, START_MS)).toEqual(is)
  }
})

test('the former certificate verifies nothing while another person is listed with it', async () => {
  const { trust } = await changed('accept')
  await trust.saw([of(2, A)])
  expect(trust.formerOf(1, 50, START_MS)).toBeNull()
  await trust.saw([of(2, C), of(1, null)])
  expect(trust.formerOf(1, 50, START_MS)).toMatchObject({ fingerprint: B })
  await trust.saw([of(1, A)])
  expect(trust.formerOf(1, 50, START_MS)).toMatchObject({ fingerprint: B })
})

const CHAT = 7

/** Person 1 was seen, 2 accepted, 3 verified, 4 blocked, each with A; 5 was never seen. */
async function everybody(policy: TrustPolicy) {
  const { trust } = await trusting({ policy })
  await trust.saw([1, 2, 3, 4].map((userId) => of(userId, A)))
  await trust.decisions.accept(2)
  await trust.decisions.verify(3, A)
  await trust.decisions.block(4)
  const distrust = (print: string | null) =>
    [1, 2, 3, 4, 5].map((userId) => trust.distrust(userId, print, CHAT))
  return { same: distrust(A), other: distrust(B), none: distrust(null) }
}

test.each<[TrustPolicy, what: string, same: (string | null)[], other: (string | null)[]]>([
  [
    'accept',
    'every certificate but a blocked person’s and a changed verified one',
    [null, null, null, 'blocked', null],
    [null, null, 'key-changed', 'blocked', null],
  ],
  [
    'first-use',
    'the first listed certificate, or the accepted one',
    [null, null, null, 'blocked', 'key-changed'],
    ['key-changed', 'key-changed', 'key-changed', 'blocked', 'key-changed'],
  ],
  [
    'pinned',
    'only an accepted or verified certificate',
    ['not-accepted', null, null, 'blocked', 'not-accepted'],
    ['not-accepted', 'key-changed', 'key-changed', 'blocked', 'not-accepted'],
  ],
])('the policy %s uses %s', async (policy, _what, same, other) => {
  expect(await everybody(policy)).toEqual({ same, other, none: other })
})

test('the policy of a chat decides there alone', async () => {
  const { trust } = await trusting({ policy: 'accept' })
  await trust.saw([of(1, A)])
  await trust.policies.set(CHAT, 'pinned')
  expect([trust.distrust(1, A, CHAT), trust.distrust(1, A, 8)]).toEqual(['not-accepted', null])
})

test('the epoch of trust changes with every decision and listing, and with nothing else', async () => {
  const { trust } = await trusting()
  const epochs = new Set([trust.epoch.value])
  const changes: (() => Promise<unknown>)[] = [
    () => trust.saw([of(1, A), of(2, B)]),
    () => trust.decisions.accept(1),
    () => trust.decisions.verify(1, B),
    () => trust.decisions.block(1),
    () => trust.policies.set(CHAT, 'pinned'),
  ]
  for (const change of changes) {
    await change()
    epochs.add(trust.epoch.value)
  }
  expect(epochs.size).toBe(changes.length + 1)
  const epoch = trust.epoch.value
  await trust.saw([of(1, A), of(2, B)])
  expect(trust.epoch.value).toBe(epoch)
})

test('a changed or withdrawn certificate is journalled with the former one', async () => {
  const { trust, changes, store } = await trusting()
  await trust.saw([of(1, A)])
  expect(changes).toEqual([])
  await trust.saw([of(1, B)])
  await trust.saw([of(1, null)])
  await trust.saw([of(1, C)])
  const standing = 'seen'
  expect(changes).toEqual([
    { kind: 'key-changed', userId: 1, detail: { from: A, to: B, standing } },
    { kind: 'key-withdrawn', userId: 1, detail: { from: B, standing } },
    // what nothing was listed before is compared with the first that was
    { kind: 'key-changed', userId: 1, detail: { from: A, to: C, standing } },
  ])
  for (const one of [trust, (await trusting({ store })).trust]) {
    expect(one.all).toEqual([
      {
        userId: 1,
        fingerprint: A,
        sinceMs: START_MS,
        standing,
        listed: C,
        listedAtMs: START_MS,
        former: { fingerprint: B, changedAtMs: START_MS, wasPinned: false },
      },
    ])
  }
})

test('the return of the first certificate, and a first listing, are not journalled as changes', async () => {
  const { trust, changes } = await trusting()
  await trust.saw([of(1, null), of(2, A)])
  await trust.saw([of(2, null)])
  changes.length = 0
  await trust.saw([of(2, A)])
  expect(changes).toEqual([])
  await trust.decisions.block(3)
  changes.length = 0
  await trust.saw([of(3, A)])
  expect(changes.filter(({ kind }) => kind !== 'certificate-shared')).toEqual([])
})

test('an unchanged listing is not written', async () => {
  const { trust, store } = await trusting()
  await trust.saw([of(1, A)])
  const settle = vi.spyOn(store, 'settle')
  await trust.saw([of(1, A)])
  await trust.saw([])
  expect(settle).not.toHaveBeenCalled()
})

test('two concurrent listings of a changed certificate are journalled once', async () => {
  const { trust, changes } = await trusting()
  await trust.saw([of(1, A)])
  await Promise.all([trust.saw([of(1, B)]), trust.saw([of(1, B)])])
  expect(changes.map(({ kind }) => kind)).toEqual(['key-changed'])
})

test('a shared certificate is journalled with a hundred names', async () => {
  const { trust, changes } = await trusting()
  await trust.saw(Array.from({ length: 150 }, (_, index) => of(index + 1, A)))
  const people = Array.from({ length: 100 }, (_, index) => index + 1)
  expect(changes).toEqual([
    { kind: 'certificate-shared', detail: { fingerprint: A, people, owner: null } },
  ])
})

test('a shared certificate with an owner is journalled with the owner', async () => {
  const { trust, changes } = await trusting()
  await trust.saw([of(1, A)])
  await trust.decisions.accept(1)
  changes.length = 0
  await trust.saw([of(2, A)])
  expect(changes).toEqual([
    { kind: 'certificate-shared', detail: { fingerprint: A, people: [1, 2], owner: 1 } },
  ])
})

test('`sharersOf` lists the other people of a disputed certificate, until the operator names an owner', async () => {
  const { trust } = await trusting()
  await trust.saw([of(3, A), of(1, A), of(2, A), of(4, B), of(5, B)])
  await trust.saw([of(5, null)])
  const sharers = () => trust.all.map((pin) => trust.sharersOf(pin))
  expect(sharers()).toEqual([[2, 3], [1, 3], [1, 2], [], []])
  await trust.decisions.accept(2)
  expect(sharers()).toEqual([[], [], [], [], []])
})
