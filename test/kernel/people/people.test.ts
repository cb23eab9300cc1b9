import { expect, test } from 'vitest'
import { People } from '../../../src/kernel/people/people.ts'
import { open, temporary } from '../../store/support.ts'
import { memoryOf } from '../../../src/store/memory.ts'

const of = (userId: number, fingerprint: string) => ({ userId, fingerprint })

test('a certificate with a stored revocation alone has no owner', async () => {
  const store = await open(temporary())
  const row = { fingerprint: 'a', owner: null, revoked_armored: '' }
  await store.write((db) => db.insertInto('certificates').values(row).execute())
  const people = await People.load(memoryOf(store))
  expect([people.ownerOf('a'), people.isOthers(of(1, 'a'))]).toEqual([undefined, false])
})

test('people who signed messages, and people who signed files, are remembered separately over a restart', async () => {
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
