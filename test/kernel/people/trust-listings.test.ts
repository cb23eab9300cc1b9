import type { TrustPolicy } from '../../../src/kernel/index.ts'
import { describe, expect, test, vi } from 'vitest'
import { useFakeTime } from '../../support/fake-time.ts'
import { A, B, C, of, trusting } from './trust-scene.ts'

const START_MS = 1_000_000
const CHAT = 7
useFakeTime({ now: START_MS, toFake: ['Date'] })

describe('whether a certificate may be used', () => {
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

  test('under accept it may, but that of somebody blocked, or another one of somebody verified', async () => {
    expect(await everybody('accept')).toEqual({
      same: [null, null, null, 'blocked', null],
      other: [null, null, 'key-changed', 'blocked', null],
      none: [null, null, 'key-changed', 'blocked', null],
    })
  })

  test('under first-use it is the first one that was seen, or the one that was accepted', async () => {
    const changed = ['key-changed', 'key-changed', 'key-changed', 'blocked', 'key-changed']
    expect(await everybody('first-use')).toEqual({
      same: [null, null, null, 'blocked', 'key-changed'],
      other: changed,
      none: changed,
    })
  })

  test('under pinned it is the one that was accepted or verified', async () => {
    const changed = ['not-accepted', 'key-changed', 'key-changed', 'blocked', 'not-accepted']
    expect(await everybody('pinned')).toEqual({
      same: ['not-accepted', null, null, 'blocked', 'not-accepted'],
      other: changed,
      none: changed,
    })
  })

  test('is a matter of the chat', async () => {
    const { trust } = await trusting({ policy: 'accept' })
    await trust.saw([of(1, A)])
    await trust.policies.set(CHAT, 'pinned')
    expect([trust.distrust(1, A, CHAT), trust.distrust(1, A, 8)]).toEqual(['not-accepted', null])
  })
})

test('what is asked again and again has another epoch after each change, and only then', async () => {
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

describe('what the service lists', () => {
  test('is written down when it is another one, or none, with what it was before', async () => {
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

  test('is no change where the first one comes back, or nothing was ever known', async () => {
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

  test('costs no write when it is as before', async () => {
    const { trust, store } = await trusting()
    await trust.saw([of(1, A)])
    const settle = vi.spyOn(store, 'settle')
    await trust.saw([of(1, A)])
    await trust.saw([])
    expect(settle).not.toHaveBeenCalled()
  })

  test('by two at once is learned once', async () => {
    const { trust, changes } = await trusting()
    await trust.saw([of(1, A)])
    await Promise.all([trust.saw([of(1, B)]), trust.saw([of(1, B)])])
    expect(changes.map(({ kind }) => kind)).toEqual(['key-changed'])
  })

  test('for many is told with the names of a hundred', async () => {
    const { trust, changes } = await trusting()
    await trust.saw(Array.from({ length: 150 }, (_, index) => of(index + 1, A)))
    const people = Array.from({ length: 100 }, (_, index) => index + 1)
    expect(changes).toEqual([
      { kind: 'certificate-shared', detail: { fingerprint: A, people, owner: null } },
    ])
  })

  test('for somebody beside the owner names the owner', async () => {
    const { trust, changes } = await trusting()
    await trust.saw([of(1, A)])
    await trust.decisions.accept(1)
    changes.length = 0
    await trust.saw([of(2, A)])
    expect(changes).toEqual([
      { kind: 'certificate-shared', detail: { fingerprint: A, people: [1, 2], owner: 1 } },
    ])
  })

  test('for more people than are remembered is told, and not for as many', async () => {
    const { trust } = await trusting({ maxPeople: 2 })
    const full = vi.fn()
    trust.onFull(full)
    await trust.saw([of(1, A), of(2, B)])
    expect(full).not.toHaveBeenCalled()
    await trust.saw([of(3, C)])
    expect(full).toHaveBeenCalledTimes(1)
    expect([trust.isRemembered(2), trust.isRemembered(3)]).toEqual([true, false])
  })
})

test('who else is listed with a disputed certificate is known, and of another one nobody', async () => {
  const { trust } = await trusting()
  await trust.saw([of(3, A), of(1, A), of(2, A), of(4, B), of(5, B)])
  await trust.saw([of(5, null)])
  const sharers = () => trust.all.map((pin) => trust.sharersOf(pin))
  expect(sharers()).toEqual([[2, 3], [1, 3], [1, 2], [], []])
  await trust.decisions.accept(2)
  expect(sharers()).toEqual([[], [], [], [], []])
})
