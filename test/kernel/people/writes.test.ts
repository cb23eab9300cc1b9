/** What is written and when, and what counts before it is. */
import { expect, test, vi } from 'vitest'
import { Journal } from '../../../src/kernel/people/journal.ts'
import { loadKeyChanges } from '../../../src/translate/key-changes.ts'
import { KnownKeys } from '../../../src/kernel/people/known-keys.ts'
import type { TrustParts } from '../../../src/kernel/people/trust.ts'
import { smallMemory, smallTrust } from './small-memory.ts'
import { A, B, C, of } from './trust-scene.ts'

const FULL = { code: 'postern_store_unwritable' }

const listed = (userId: number, ...keys: string[]) => ({
  userId,
  certificateStatus: { encryptionKeys: keys },
})

test('unwritten encryption keys are known with the time of their first sighting, and written once later', async () => {
  const { memory, written, state, answers } = smallMemory()
  const known = new KnownKeys(memory)
  state.isFull = true
  for (const nowMs of [5, 6]) {
    state.nowMs = nowMs
    await expect(known.saw('x', [listed(1, A, B), listed(2, A)])).rejects.toMatchObject(FULL)
  }
  const owners = await known.ownersOf([A.slice(-16), C.slice(-16)])
  expect([...owners].map(([id, people]) => [id, [...people]])).toEqual([
    [
      A.slice(-16),
      [
        [1, 5],
        [2, 5],
      ],
    ],
  ])
  state.isFull = false
  answers['encryptionKeys.room'] = () => 1
  for (let time = 0; time < 2; time++) await memory.settle()
  expect(written).toMatchObject([['encryptionKeys.add', { length: 3 }]])
  expect(await known.ownersOf([A.slice(-16)])).toEqual(new Map())
})

test('`KnownKeys` keeps at most 50,000 unwritten encryption keys', async () => {
  const { memory, state } = smallMemory()
  const known = new KnownKeys(memory)
  state.isFull = true
  const keys = Array.from({ length: 50_001 }, (_, n) => `${n}`.padStart(16, '0'))
  await expect(known.saw('x', [listed(1, ...keys)])).rejects.toMatchObject(FULL)
  expect([...(await known.ownersOf(keys.slice(-2))).keys()]).toEqual(keys.slice(-2, -1))
})

test('the report of a changed key is written before the bot receives it, and once', async () => {
  const { memory, written, state } = smallMemory()
  const journal = new Journal(memory)
  const changes = await loadKeyChanges({ memory, journal, policies: { for: () => 'accept' } })
  const detail = { from: A, to: B, standing: 'seen' }
  await journal.record([{ kind: 'key-changed', userId: 5, detail }])
  written.length = 0
  state.settled = 0
  for (let time = 0; time < 2; time++) {
    expect(await changes.tell([5, 6], { chatId: 7, by: 'send', key: 'k' })).toEqual([
      { userId: 5, from: A, to: B },
    ])
    expect(written).toMatchObject([['keyChanges.setTold', { userId: 5 }, 'send', 'k']])
    expect(state.settled).toBe(1)
  }
})

const scene = (more: Partial<TrustParts> = {}) => smallTrust({ policy: 'first-use', ...more })

test('an unwritten listing counts at once, with the first certificate as the pin', async () => {
  const { trust, state } = await scene()
  await trust.saw([of(1, B)])
  state.isFull = true
  const epoch = trust.epoch.value
  await expect(trust.saw([of(2, B)])).rejects.toMatchObject(FULL)
  expect(trust.epoch.value).toBeGreaterThan(epoch)
  expect([trust.isShared(B), trust.isShared(A), trust.isRemembered(2)]).toEqual([true, false, true])
  await expect(trust.saw([of(2, A)])).rejects.toMatchObject(FULL)
  expect([B, A, C].map((print) => trust.distrust(2, print, 50))).toEqual([
    null,
    'key-changed',
    'key-changed',
  ])
  expect(trust.isShared(B)).toBe(false)
  expect(trust.standingOf(2)).toBeUndefined()
})

test('an unwritten listing ends the former certificate, unless it repeats the stored one', async () => {
  const { trust, state } = await scene({ policy: 'accept' })
  await trust.saw([of(1, A)])
  await trust.saw([of(1, B)])
  state.isFull = true
  const former = { fingerprint: A }
  expect(trust.formerOf(1, 50, 0)).toMatchObject(former)
  await trust.saw([of(1, C)]).catch(() => undefined)
  expect(trust.formerOf(1, 50, 0)).toBeNull()
  await trust.saw([of(1, B)]).catch(() => undefined)
  expect(trust.formerOf(1, 50, 0)).toMatchObject(former)
  expect(trust.formerOf(9, 50, 0)).toBeNull()
})

test('an unwritten listing ends a stored dispute', async () => {
  const { trust, state } = await scene()
  await trust.saw([of(1, A), of(2, A)])
  expect(trust.isShared(A)).toBe(true)
  state.isFull = true
  await trust.saw([of(2, B)]).catch(() => undefined)
  expect(trust.isShared(A)).toBe(false)
})

test('a listing that arrives while another is written is written with the next write', async () => {
  const { trust, written, answers, memory } = await scene()
  answers['pins.save'] = () => {
    delete answers['pins.save']
    void trust.saw([of(1, B)]).catch(() => undefined)
  }
  memory.fresh = async () => await Promise.reject(new Error('out of reach'))
  await trust.saw([of(1, A)]).catch(() => undefined)
  await memory.settle()
  expect(written.find(([call]) => call === 'pins.save')).toMatchObject([
    'pins.save',
    [{ userId: 1, listed: B }],
  ])
})

test('pins and key changes are on disk before their announcement', async () => {
  const { written, journal, trust } = await smallTrust()
  const calls: string[] = []
  journal.onChange(() => calls.push(...written.map(([call]) => call)))
  await trust.saw([of(1, A), of(2, A)])
  written.length = calls.length = 0
  await trust.saw([of(1, B), of(2, null)])
  expect(written[1]).toEqual(['keyChanges.save', [{ userId: 1, from: A, to: B }]])
  expect(new Set(calls)).toEqual(new Set(['pins.save', 'keyChanges.save', 'journal.append']))
})

test.each(['pins.save', 'certificates.setOwner', 'signers.forget'])(
  'a decision fails as a whole when writing `%s` fails',
  async (failing) => {
    const { answers, people, trust } = await smallTrust({ policy: 'pinned' })
    await trust.saw([of(1, A)])
    const failure = new Error('the disk is full')
    answers[failing] = async () => await Promise.reject(failure)
    await expect(trust.decisions.accept(1)).rejects.toBe(failure)
    if (failing === 'pins.save') await expect(trust.decisions.block(1)).rejects.toBe(failure)
    expect([trust.standingOf(1), people.ownerOf(A)]).toEqual(['seen', undefined])
  },
)

test('an effect without a journal entry is written in order', async () => {
  const { memory } = smallMemory()
  const note = vi.spyOn(memory, 'note')
  await new Journal(memory).record([])
  expect(note).toHaveBeenCalledExactlyOnceWith(expect.any(Function), { isOrdered: true })
})
