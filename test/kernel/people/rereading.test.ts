/** What another sidecar has changed is read again. */
import { expect, test } from 'vitest'
import { Certificates } from '../../../src/kernel/people/certificates.ts'
import { Policies } from '../../../src/kernel/people/policies.ts'
import { Journal } from '../../../src/kernel/people/journal.ts'
import { loadKeyChanges } from '../../../src/translate/key-changes.ts'
import { People } from '../../../src/kernel/people/people.ts'
import { blankPin, Pins } from '../../../src/kernel/people/pins.ts'
import type { Engine } from '../../../src/openpgp/engine.ts'
import { judging, printOf } from './people-scene.ts'
import { smallMemory, smallTrust } from './small-memory.ts'
import { A, B, of } from './trust-scene.ts'

const SEND = { chatId: 7, by: 'send', key: 'k' } as const

test('owners and signers that another sidecar changed or removed are read again', async () => {
  const { memory, reread, answers } = smallMemory({
    'certificates.owners': () => [of(1, A), of(2, B)],
    'signers.of': () => [{ userId: 1, kinds: ['words'] }],
  })
  const people = await People.load(memory)
  expect([people.ownerOf(A), people.ownerOf(B), people.hasSigned(1, 'words')]).toEqual([1, 2, true])
  const before = people.epoch.value
  answers['certificates.owners'] = () => []
  answers['signers.of'] = () => []
  await reread('certificates', [A])
  await reread('people', ['1'])
  expect([people.ownerOf(A), people.ownerOf(B), people.hasSigned(1, 'words')]).toEqual([
    undefined,
    2,
    false,
  ])
  expect(people.epoch.value).toBeGreaterThan(before)
})

test('policies, pins, key changes and certificates of another sidecar are read again', async () => {
  const { memory, reread, answers } = smallMemory({
    'policies.of': () => [{ chatId: 7, policy: 'pinned' }],
  })
  const journal = new Journal(memory)
  const epoch = { value: 0 }
  const policies = await Policies.load({ memory, journal, setting: 'accept', epoch })
  const pins = await Pins.load(memory, { epoch, forgotten: undefined })
  const keyChanges = await loadKeyChanges({ memory, journal, policies: { for: () => 'accept' } })
  const engine = { judge: judging() } as unknown as Engine
  const certificates = await Certificates.load({ engine, memory, journal })
  expect([policies.for(7), pins.size, await keyChanges.tell([5], SEND)]).toEqual(['pinned', 0, []])
  const before = epoch.value
  answers['policies.of'] = () => []
  answers['pins.of'] = () => [{ ...blankPin(5), listed: A }]
  answers['keyChanges.of'] = () => [{ ...of(5, A), from: A, to: B, send: null, message: null }]
  answers['certificates.of'] = () => [
    { fingerprint: printOf('ann'), copyDigest: null, isRevoked: true },
  ]
  await reread('trust_policies', ['7'])
  expect(epoch.value).toBeGreaterThan(before)
  await reread('pins', ['5'])
  await reread('key_changes', ['5'])
  await reread('certificates', [printOf('ann')])
  expect(policies.for(7)).toBe('accept')
  expect(pins.claimantsOf(A)).toEqual([5])
  expect(await keyChanges.tell([5], SEND)).toEqual([{ userId: 5, from: A, to: B }])
  expect(certificates.isRevoked(printOf('ann'))).toBe(true)
})

test('a new listing counts while it is written, which reads the store anew', async () => {
  const { memory, written, trust } = await smallTrust()
  memory.fresh = () => Promise.reject(new Error('out of reach'))
  const seeing = trust.saw([of(1, A)])
  expect(trust.isRemembered(1)).toBe(true)
  await seeing
  await expect(trust.saw([of(1, A)])).rejects.toThrow('out of reach')
  expect(written).toMatchObject([
    ['pins.save', [{ userId: 1 }]],
    ['keyChanges.save', []],
  ])
})

test('a set policy and a reread owner both change the epoch of trust', async () => {
  const { reread, trust } = await smallTrust()
  const epoch = trust.epoch.value
  await trust.policies.set(7, 'pinned')
  await reread('certificates', [A])
  expect(trust.epoch.value).toBe(epoch + 2)
})

test('`People.load` fails when the owners cannot be read', async () => {
  const failure = new Error('out of reach')
  const { memory } = smallMemory({ 'certificates.owners': () => Promise.reject(failure) })
  await expect(People.load(memory)).rejects.toBe(failure)
})
