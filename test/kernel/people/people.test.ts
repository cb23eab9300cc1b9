import { expect, test, vi } from 'vitest'
import { People } from '../../../src/kernel/people/people.ts'
import { open, temporary } from '../../store/support.ts'
import { memoryOf } from '../../../src/store/memory.ts'

const of = (userId: number, fingerprint: string) => ({ userId, fingerprint })

test('a certificate is its last owner’s alone, also after a restart', async () => {
  const store = await open(temporary())
  const people = await People.load(memoryOf(store))
  expect([people.ownerOf('a'), people.isOthers(of(1, 'a'))]).toEqual([undefined, false])
  for (const pair of [of(1, 'a'), of(2, 'b'), of(3, 'a')]) {
    await memoryOf(store).write(({ certificates: known }) =>
      known.setOwner(pair.fingerprint, pair.userId),
    )
    people.ownerSaved(pair)
  }
  for (const one of [people, await People.load(memoryOf(store))]) {
    expect([one.ownerOf('a'), one.ownerOf('b'), one.ownerOf('c')]).toEqual([3, 2, undefined])
    expect(
      [of(1, 'a'), of(3, 'a'), of(3, 'b'), of(9, 'c')].map((pair) => one.isOthers(pair)),
    ).toEqual([true, false, true, false])
  }
})

test('a certificate of which only a revocation is known is nobody’s', async () => {
  const store = await open(temporary())
  const row = { fingerprint: 'a', owner: null, revoked_armored: '' }
  await store.write((db) => db.insertInto('certificates').values(row).execute())
  const people = await People.load(memoryOf(store))
  expect([people.ownerOf('a'), people.isOthers(of(1, 'a'))]).toEqual([undefined, false])
})

test('who signed words, and who signed files, is remembered for good, each by itself', async () => {
  const store = await open(temporary())
  const people = await People.load(memoryOf(store))
  const startMs = Date.now()
  await people.rememberSigned([1, 2], 'words')
  await people.rememberSigned([2, 3], 'file')
  await people.rememberSigned([], 'file')
  for (const one of [people, await People.load(memoryOf(store))]) {
    expect([1, 2, 3].map((id) => one.hasSigned(id, 'words'))).toEqual([true, true, false])
    expect([1, 2, 3].map((id) => one.hasSigned(id, 'file'))).toEqual([false, true, true])
  }
  const rows = await store.read((db) => db.selectFrom('people').selectAll().execute())
  const times = rows.flatMap((row) => [row.signed_at, row.signed_files_at])
  expect(times.filter((atMs) => atMs !== null && atMs >= startMs)).toHaveLength(4)
})

test('nothing is written of those who are known to sign', async () => {
  const store = await open(temporary())
  const people = await People.load(memoryOf(store))
  await people.rememberSigned([1], 'words')
  await store.write((db) => db.deleteFrom('people').execute())
  await people.rememberSigned([1, 2], 'words')
  const rows = await store.read((db) => db.selectFrom('people').select('user_id').execute())
  expect(rows).toEqual([{ user_id: 2 }])
  const note = vi.spyOn(store, 'note')
  await people.rememberSigned([1, 2], 'words')
  expect(note).not.toHaveBeenCalled()
})

test('somebody begins anew for words and files, and nobody else does', async () => {
  const store = await open(temporary())
  const people = await People.load(memoryOf(store))
  await people.rememberSigned([1, 2], 'words')
  await people.rememberSigned([1, 2], 'file')
  await memoryOf(store).write(({ signers }) => signers.forget(1))
  people.signedForgotten(1)
  for (const one of [people, await People.load(memoryOf(store))]) {
    for (const kind of ['words', 'file'] as const) {
      expect([1, 2].map((id) => one.hasSigned(id, kind))).toEqual([false, true])
    }
  }
})
