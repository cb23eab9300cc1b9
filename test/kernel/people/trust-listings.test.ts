import type { TrustPolicy } from '../../../src/kernel/index.ts'
import { describe, expect, test, vi } from 'vitest'
import { useFakeTime } from '../../support/fake-time.ts'
import { A, B, C, of, trusting } from './trust-scene.ts'

const START_MS = 1_000_000
const CHAT = 7
useFakeTime({ now: START_MS, toFake: ['Date'] })

describe('the use of a certificate by policy', () => {
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

  test('the policy accept uses every certificate but a blocked person’s and a changed verified one', async () => {
    expect(await everybody('accept')).toEqual({
      same: [null, null, null, 'blocked', null],
      other: [null, null, 'key-changed', 'blocked', null],
      none: [null, null, 'key-changed', 'blocked', null],
    })
  })

  test('the policy first-use uses the first listed certificate, or the accepted one', async () => {
    const changed = ['key-changed', 'key-changed', 'key-changed', 'blocked', 'key-changed']
    expect(await everybody('first-use')).toEqual({
      same: [null, null, null, 'blocked', 'key-changed'],
      other: changed,
      none: changed,
    })
  })

  test('the policy pinned uses only an accepted or verified certificate', async () => {
    const changed = ['not-accepted', 'key-changed', 'key-changed', 'blocked', 'not-accepted']
    expect(await everybody('pinned')).toEqual({
      same: ['not-accepted', null, null, 'blocked', 'not-accepted'],
      other: changed,
      none: changed,
    })
  })

  test('the policy of a chat decides there alone', async () => {
    const { trust } = await trusting({ policy: 'accept' })
    await trust.saw([of(1, A)])
    await trust.policies.set(CHAT, 'pinned')
    expect([trust.distrust(1, A, CHAT), trust.distrust(1, A, 8)]).toEqual(['not-accepted', null])
  })
})

test('the epoch of trust changes with every decision and listing, and with nothing else', async () => {
  const { trust } = await trusting()
  const epochs = new Set([trust.epoch])
  const changes: (() => Promise<unknown>)[] = [
    () => trust.saw([of(1, A), of(2, B)]),
    () => trust.decisions.accept(1),
    () => trust.decisions.verify(1, B),
    () => trust.decisions.block(1),
    () => trust.policies.set(CHAT, 'pinned'),
  ]
  for (const change of changes) {
    await change()
    epochs.add(trust.epoch)
  }
  expect(epochs.size).toBe(changes.length + 1)
  const { epoch } = trust
  await trust.saw([of(1, A), of(2, B)])
  expect(trust.epoch).toBe(epoch)
})

describe('listings by the service', () => {
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
