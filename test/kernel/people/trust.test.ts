import { expect, test, vi } from 'vitest'
import type { Store } from '../../../src/store/store.ts'
import { A, B, C, of, trusting } from './trust-scene.ts'

async function fresh(o: { store?: Store; maxPeople?: number } = {}) {
  const scene = await trusting(o)
  const onFull = vi.fn()
  scene.trust.onFull(onFull)
  return { ...scene, onFull, kinds: () => scene.changes.map(({ kind }) => kind) }
}
const load = (store: Store) => fresh({ store })

test('a certificate of two people is disputed until one lists another, or the operator names the owner', async () => {
  const { trust, people, kinds, store } = await fresh()
  await trust.saw([of(1, A)])
  expect(trust.isShared(A)).toBe(false)
  await trust.saw([of(2, A), of(3, B)])
  expect([trust.isShared(A), trust.isShared(B)]).toEqual([true, false])
  expect((await load(store)).trust.isShared(A)).toBe(true)
  await trust.saw([of(2, C)])
  expect(trust.isShared(A)).toBe(false)
  await trust.saw([of(2, A)])
  await trust.decisions.accept(1)
  expect(trust.isShared(A)).toBe(false)
  for (const one of [people, (await load(store)).people]) {
    expect([one.isOthers(of(1, A)), one.isOthers(of(2, A))]).toEqual([false, true])
    expect(one.isOthers(of(2, C))).toBe(false)
  }
  expect(kinds().filter((kind) => kind === 'certificate-shared')).toHaveLength(2)
})

test('a dispute is journalled once, with the people listed now, also for concurrent listings', async () => {
  const { trust, changes } = await fresh()
  await Promise.all([trust.saw([of(1, A)]), trust.saw([of(2, A)]), trust.saw([of(3, A)])])
  await trust.saw([of(1, A), of(2, A), of(3, A)])
  const shared = changes.filter(({ kind }) => kind === 'certificate-shared')
  expect(shared).toHaveLength(1)
  expect(shared[0]?.detail).toMatchObject({ fingerprint: A, people: [1, 2, 3], owner: null })
  const together = await fresh()
  await together.trust.saw([of(1, A), of(2, A), of(3, A)])
  expect(together.changes.map(({ detail }) => detail)).toEqual([
    { fingerprint: A, people: [1, 2, 3], owner: null },
  ])
  // two who swap certificates at once dispute nothing
  const swapped = await fresh()
  await swapped.trust.saw([of(1, A), of(2, B)])
  await swapped.trust.saw([of(1, B), of(2, A)])
  expect(swapped.kinds()).toEqual(['key-changed', 'key-changed'])
})

test('a withdrawn listing ends a dispute, and keeps the pin', async () => {
  const { trust, kinds, store } = await fresh()
  await trust.saw([of(1, A), of(2, A)])
  await trust.saw([of(2, null)])
  expect(trust.isShared(A)).toBe(false)
  expect(kinds()).toContain('key-withdrawn')
  expect((await load(store)).trust.isShared(A)).toBe(false)
  await expect(trust.decisions.accept(2)).rejects.toMatchObject({ code: 'refused' })
  await trust.policies.set(null, 'first-use')
  expect(trust.distrust(2, B, 9)).toBe('key-changed')
  expect(trust.distrust(2, A, 9)).toBeNull()
  expect(trust.distrust(2, null, 9)).toBe('key-changed')
})

test('a person listed with two certificates at once, or one and none, is not recorded', async () => {
  const { trust } = await fresh()
  await trust.saw([of(1, A)])
  await trust.saw([of(2, A), of(2, B), of(3, B)])
  await trust.saw([of(2, A), of(2, null)])
  expect([trust.isShared(A), trust.isShared(B), trust.isRemembered(2)]).toEqual([
    false,
    false,
    false,
  ])
})

test('the person named last owns a certificate, and blocking the owner frees it for nobody', async () => {
  const { trust, people } = await fresh()
  await trust.saw([of(1, A), of(2, A)])
  await trust.decisions.accept(2)
  expect(people.isOthers(of(1, A))).toBe(true)
  await trust.decisions.verify(1, A)
  expect([people.isOthers(of(1, A)), people.isOthers(of(2, A))]).toEqual([false, true])
  await trust.decisions.block(1)
  expect(people.isOthers(of(2, A))).toBe(true)
})

test('a decision of the operator is kept over concurrent listings', async () => {
  const { trust, store } = await fresh()
  await trust.saw([of(1, A)])
  await Promise.all([trust.saw([of(1, B)]), trust.decisions.block(1), trust.saw([of(1, C)])])
  for (const one of [trust, (await load(store)).trust]) {
    expect(one.standingOf(1) === 'blocked').toBe(true)
    expect(one.all[0]?.listed).toBe(C)
  }
})

test('a person beyond `maxPeople` displaces nobody, and is not remembered', async () => {
  const { trust, store, onFull } = await fresh({ maxPeople: 3 })
  await trust.saw([of(1, A), of(2, B)])
  await trust.decisions.verify(1, A)
  for (let userId = 100; userId < 150; userId++) await trust.saw([of(userId, C)])
  expect(trust.all.map(({ userId }) => userId)).toEqual([1, 2, 100])
  expect(trust.isRemembered(101)).toBe(false)
  expect(onFull).toHaveBeenCalled()
  expect(trust.distrust(1, B, 9)).toBe('key-changed')
  // what is seen of those who are known is learned all the same
  await trust.saw([of(2, C), of(999, A)])
  expect(trust.isShared(C)).toBe(true)
  // the operator may always speak of somebody
  await trust.decisions.block(555)
  expect((await load(store)).trust.standingOf(555) === 'blocked').toBe(true)
})
