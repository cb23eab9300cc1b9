/** Copies of certificates: which are kept, which replace them, and what is merged. */
import { createHash } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { Certificates } from '../../../src/kernel/people/certificates.ts'
import { Journal } from '../../../src/kernel/people/journal.ts'
import type { Engine } from '../../../src/openpgp/engine.ts'
import { judging, printOf, statusOf } from './people-scene.ts'
import { smallMemory } from './small-memory.ts'

const FULL = { code: 'postern_store_unwritable' }

async function scene(bounds: { maxCopies?: number } = {}) {
  const small = smallMemory({ 'certificates.copyOf': () => 'on disk: ann' })
  const { memory } = small
  const judge = async (armored: string, known?: string) => {
    const judged = await judging()(armored)
    return known === undefined ? judged : { ...judged, armored: `${known} + ${armored}` }
  }
  const engine = { judge } as unknown as Engine
  const parts = { engine, memory, journal: new Journal(memory), ...bounds }
  return { certificates: await Certificates.load(parts), ...small }
}
const ann = statusOf('ann', { armored: 'ann' })
const news = statusOf('ann', { armored: 'ann with news', isNews: true })

test('the copy of a certificate is stored once, and never that of a revoked or empty one', async () => {
  const { certificates, written } = await scene()
  const never = [
    statusOf('eve', { revocations: true }),
    statusOf('fay', { armored: '' }),
    { ...statusOf('gil'), fingerprint: null },
  ]
  await certificates.keepCopies([ann, ...never])
  await certificates.keepCopies([ann, { ...news, isNews: false }, { ...ann, isNews: true }])
  expect(written).toMatchObject([['certificates.addCopies', [{ copy: 'ann' }]]])
  expect(await certificates.copyOf(printOf('eve'))).toBeNull()
  expect(await certificates.copyOf(printOf('ann'))).toBe('on disk: ann')
})

test('`keepCopies` stores up to `maxCopies` certificates over all calls', async () => {
  const { certificates, written } = await scene({ maxCopies: 2 })
  await certificates.keepCopies([ann])
  await certificates.keepCopies([statusOf('ben'), statusOf('cid')])
  expect(written).toMatchObject([
    ['certificates.addCopies', { length: 1 }],
    ['certificates.addCopies', [{ fingerprint: printOf('ben') }]],
  ])
})

test('a copy with news counts at once, and replaces the stored one with the next write', async () => {
  const { certificates, written, state } = await scene()
  await certificates.keepCopies([ann])
  written.length = 0
  state.isFull = true
  await expect(certificates.keepCopies([news])).rejects.toMatchObject(FULL)
  expect(await certificates.copyOf(printOf('ann'))).toBe('ann with news')
  expect((await certificates.judge('now ann')).armored).toBe('ann with news + now ann')
  await expect(certificates.keepCopies([{ ...news, armored: 'ann with more' }])).rejects.toThrow()
  state.isFull = false
  const { settled } = state
  await certificates.keepCopies([])
  await certificates.keepCopies([])
  expect(state.settled).toBe(settled + 1)
  expect(written).toMatchObject([
    ['certificates.replaceCopy', { copy: 'ann with more' }, expect.any(String)],
  ])
  expect(await certificates.copyOf(printOf('ann'))).toBe('on disk: ann')
})

test('`judge` merges the stored copy with another armored text of the same certificate', async () => {
  const { certificates } = await scene()
  const listed = statusOf('ann')
  await certificates.keepCopies([listed])
  expect((await certificates.judge(listed.armored)).armored).toBe(listed.armored)
  expect((await certificates.judge('now ann')).armored).toBe('on disk: ann + now ann')
  expect((await certificates.judge('now ben')).armored).toBe(statusOf('ben').armored)
})

test('a certificate whose stored revocation cannot be read is written as revoked without a copy', async () => {
  const { certificates, written, answers } = await scene()
  const revoked = statusOf('ann', { revocations: true, unusable: 'revoked', armored: 'first' })
  await certificates.rememberRevoked(revoked, 1)
  written.length = 0
  const reads = [() => Promise.reject(new Error('out of reach')), () => null]
  answers['certificates.revokedCopyOf'] = () => reads.shift()?.()
  const again = { ...revoked, armored: 'second' }
  await expect(certificates.rememberRevoked(again, 1)).rejects.toThrow('out of reach')
  expect(written).toMatchObject([
    ['certificates.setRevokedCopy', printOf('ann'), ''],
    ['journal.append', { kind: 'key-revoked', userId: 1 }],
  ])
})

test('a certificate whose revocation can neither be read nor written still counts as revoked', async () => {
  const { certificates, answers, state } = await scene()
  const revoked = statusOf('ann', { revocations: true, unusable: 'revoked', armored: 'first' })
  await certificates.rememberRevoked(revoked, 1)
  answers['certificates.revokedCopyOf'] = () => Promise.reject(new Error('out of reach'))
  state.isFull = true
  await expect(
    certificates.rememberRevoked({ ...revoked, armored: 'second' }, 1),
  ).rejects.toMatchObject(FULL)
  expect(await certificates.judge('now ann')).toMatchObject({ unusable: 'revoked', armored: '' })
})

test('a certificate that two sidecars have with different revocations is kept without a copy', async () => {
  const { certificates, written, answers } = await scene()
  answers['certificates.revokedCopyOf'] = () => 'revoked at another sidecar'
  await certificates.rememberRevoked(statusOf('ann', { revocations: true }), 1)
  expect(written[0]).toEqual(['certificates.setRevokedCopy', printOf('ann'), ''])
})

test('news that arrive while a copy is written replace it with the next write', async () => {
  const { certificates, written, answers, memory } = await scene()
  await certificates.keepCopies([ann])
  const more = { ...news, armored: 'ann with more' }
  let first: unknown
  answers['certificates.replaceCopy'] = (copy: { copyDigest: string }) => {
    delete answers['certificates.replaceCopy']
    first = copy.copyDigest
    void certificates.keepCopies([more])
  }
  await certificates.keepCopies([news])
  await memory.settle()
  expect(written.at(-1)).toEqual([
    'certificates.replaceCopy',
    expect.objectContaining({ copy: 'ann with more' }),
    first,
  ])
})

test('a stored copy of another certificate counts as none, and a revoked one as revoked', async () => {
  const { certificates, answers } = await scene()
  await certificates.keepCopies([statusOf('ben')])
  expect(await certificates.copyOf(printOf('ben'))).toBeNull()
  expect((await certificates.judge('now ben')).armored).toBe(statusOf('ben').armored)
  const status = statusOf('cid', { revocations: true })
  const names = [printOf('cid'), `${printOf('cid')} ${printOf('certifier')}`]
  for (const fingerprint of names) {
    await certificates.rememberRevoked({ ...status, fingerprint }, 1)
    answers['certificates.revokedCopyOf'] = () => 'revoked: cid'
    expect(await certificates.revokedCopyOf(fingerprint)).toBe('revoked: cid')
    answers['certificates.revokedCopyOf'] = () => 'revoked: ann'
    expect(await certificates.revokedCopyOf(fingerprint)).toBe('')
  }
  expect((await certificates.judge('now cid')).unusable).toBe('revoked')
})

test('`keepCopies` stores the same digest as an earlier release', async () => {
  const { certificates, written } = await scene()
  await certificates.keepCopies([ann])
  const copyDigest = createHash('sha256').update('ann').digest('base64')
  expect(written).toEqual([
    ['certificates.addCopies', [{ fingerprint: printOf('ann'), copyDigest, copy: 'ann' }]],
  ])
})

test('`refreshPerson` judges an expired certificate again only if it was usable before', async () => {
  const { memory } = smallMemory()
  const judge = vi.fn(judging())
  const engine = { judge } as unknown as Engine
  const certificates = await Certificates.load({ engine, memory, journal: new Journal(memory) })
  const certificateStatus = statusOf('ann', { expiresMs: 10 })
  const person = { userId: 1, fingerprint: printOf('ann'), certificateStatus }
  const before = { ...person, unusable: 'expired' } as const
  expect(await certificates.refreshPerson(before, 10)).toBe(before)
  expect(judge).not.toHaveBeenCalled()
  await certificates.refreshPerson({ ...person, unusable: null }, 10)
  expect(judge).toHaveBeenCalledOnce()
})
