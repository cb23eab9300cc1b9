import { expect, test, vi } from 'vitest'
import { Refusal } from '../../../src/errors.ts'
import { Certificates, type CertificatesParts } from '../../../src/kernel/people/certificates.ts'
import { Journal, type TrustChange } from '../../../src/kernel/people/journal.ts'
import type { Person } from '../../../src/kernel/people/person.ts'
import type { CertificateStatus, Engine } from '../../../src/openpgp/engine.ts'
import { findRow } from '../../../src/store/records/rows.ts'
import type { Store } from '../../../src/store/store.ts'
import { open, temporary } from '../../store/support.ts'
import { judging, printOf, statusOf } from './people-scene.ts'
import { memoryOf } from '../../../src/store/memory.ts'

/** Certificates over an engine that notes what it merges, in a store. */
async function scene(o: { store?: Store; bounds?: Partial<CertificatesParts> } = {}) {
  const store = o.store ?? (await open(temporary()))
  const judge = vi.fn(async (armored: string, known?: string) => {
    const judged = await judging()(armored)
    return known === undefined ? judged : { ...judged, armored: `${known} + ${armored}` }
  })
  const engine = { judge } as unknown as Engine
  const memory = memoryOf(store)
  const journal = new Journal(memory)
  const changes: TrustChange[] = []
  journal.onChange((change) => changes.push(change))
  const certificates = await Certificates.load({ engine, memory, journal, ...o.bounds })
  const remember = (status: CertificateStatus, userId = 1) =>
    certificates.rememberRevoked(status, userId)
  const kept = (name: string) =>
    store.read((db) => findRow(db, 'certificates', { fingerprint: printOf(name) }))
  return { store, judge, changes, certificates, remember, kept }
}

const revoked = (name: string, armored = `revoked ${name}`) =>
  statusOf(name, { revocations: true, unusable: 'revoked', armored })

test('a certificate is merged with its remembered revocation for every person, after a restart too', async () => {
  const { certificates, remember, judge, changes, store } = await scene()
  await certificates.keepCopies([statusOf('ann')])
  await remember(revoked('ann'), 5)
  expect(await certificates.copyOf(printOf('ann'))).toBeNull()
  expect(changes).toEqual([
    { kind: 'key-revoked', userId: 5, detail: { fingerprint: printOf('ann') } },
  ])
  for (const one of [certificates, (await scene({ store })).certificates]) {
    expect((await one.judge('now ann')).armored).toBe('revoked ann + now ann')
  }
  judge.mockClear()
  expect((await certificates.judge('now ben')).armored).toBe(statusOf('ben').armored)
  expect(judge.mock.calls).toEqual([['now ben']])
})

test('`rememberRevoked` ignores a certificate without revocations, and an unparsed one', async () => {
  const { remember, changes, certificates } = await scene()
  await remember(statusOf('ann'))
  await remember({ ...revoked('ann'), fingerprint: null })
  expect(changes).toEqual([])
  expect(await certificates.judge('now ann')).toEqual(statusOf('ann'))
})

test('the same revocation is stored and journalled once, and a second one beside it', async () => {
  const { remember, changes, kept } = await scene()
  await remember(revoked('ann'))
  await remember(revoked('ann'), 2)
  expect(changes).toHaveLength(1)
  await remember(revoked('ann', 'two of ann'))
  expect(changes).toHaveLength(2)
  expect((await kept('ann'))?.revoked_armored).toBe('two of ann')
})

test('a revocation keeps the owner whom the operator named', async () => {
  const { remember, store, kept, certificates } = await scene()
  const owner = { userId: 9, fingerprint: printOf('ann') }
  await memoryOf(store).write(({ certificates: known }) =>
    known.setOwner(owner.fingerprint, owner.userId),
  )
  await remember(revoked('ann'))
  expect(await kept('ann')).toMatchObject({ owner: 9, revoked_armored: 'revoked ann' })
  await remember(revoked('ben'))
  expect(await kept('ben')).toMatchObject({ owner: null })
  // an owner is no revocation
  await memoryOf(store).write(({ certificates: known }) => known.setOwner(printOf('cid'), 9))
  const { certificates: again } = await scene({ store })
  for (const one of [certificates, again]) {
    expect((await one.judge('now cid')).unusable).toBeNull()
  }
})

test('past `maxWhole` a certificate is remembered as revoked without its text', async () => {
  const { certificates, remember, changes, kept } = await scene({ bounds: { maxWhole: 1 } })
  await remember(revoked('ann'))
  await remember(revoked('ben'))
  expect((await kept('ben'))?.revoked_armored).toBe('')
  expect(await certificates.judge('now ben')).toMatchObject({ unusable: 'revoked', armored: '' })
  // nothing more is learned of such a one, and of a whole one it is
  await remember(revoked('ben', 'two of ben'))
  await remember(revoked('ann', 'two of ann'))
  expect(changes).toHaveLength(3)
  expect([(await kept('ann'))?.revoked_armored, (await kept('ben'))?.revoked_armored]).toEqual([
    'two of ann',
    '',
  ])
})

test('a certificate whose stored revocation is gone counts as revoked', async () => {
  const { certificates, remember, store } = await scene()
  await remember(revoked('ann'))
  await store.write((db) => db.deleteFrom('certificates').execute())
  expect(await certificates.judge('now ann')).toMatchObject({ unusable: 'revoked', armored: '' })
})

test('a thousand unwritten first copies are held in memory, and no more', async () => {
  const { certificates, store, kept } = await scene()
  const names = Array.from({ length: 1001 }, (_one, n) => `person ${n}`)
  const failing = vi
    .spyOn(store, 'settle')
    .mockRejectedValue(new Refusal('postern_store_unwritable'))
  const all = names.map((name) => statusOf(name))
  await expect(certificates.keepCopies(all)).rejects.toThrow(Refusal)
  failing.mockRestore()
  const copies = await Promise.all(names.map((name) => certificates.copyOf(printOf(name))))
  expect(copies.map((copy) => copy !== null)).toEqual(names.map((_one, n) => n < 1000))
  await store.settle()
  expect((await kept('person 999'))?.copy).toBe(copies[999])
  await certificates.keepCopies(all)
  expect((await kept('person 1000'))?.copy).toEqual(expect.any(String))
})

test('`isRevokedSince` and `refreshList` judge again only certificates that lack a known revocation', async () => {
  const { certificates, remember, store } = await scene()
  await remember(revoked('ann'))
  const person = (name: string) =>
    ({ userId: 1, unusable: null, certificateStatus: statusOf(name) }) as unknown as Person
  for (const one of [certificates, (await scene({ store })).certificates]) {
    expect(['ann', 'ben'].map((name) => one.isRevoked(printOf(name)))).toEqual([true, false])
    for (const [status, expected] of [
      [statusOf('ann'), true],
      [statusOf('ann', { revocations: true }), false],
      [statusOf('ann', { unusable: 'revoked' }), false],
      [statusOf('ben'), false],
      [{ ...statusOf('ann'), fingerprint: null }, false],
    ] as const) {
      expect(one.isRevokedSince(status)).toBe(expected)
    }
    const people = [person('ben'), person('ann')]
    const list = { people, lapsesAtMs: 1e15 } as never as Parameters<typeof one.refreshList>[0]
    await one.refreshList(list, 0)
    expect(list.people.map((other, at) => other === people[at])).toEqual([true, false])
  }
})

test('the later of two concurrent revocations of a certificate is kept', async () => {
  const { certificates, remember, store } = await scene()
  await Promise.all([remember(revoked('cid')), remember(revoked('cid', 'two of cid'))])
  for (const one of [certificates, (await scene({ store })).certificates]) {
    expect((await one.judge('now cid')).armored).toBe('two of cid + now cid')
  }
})
