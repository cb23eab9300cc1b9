import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { kyselyOf } from '../../src/store/dialect.ts'
import { relockAll, writeMoveIn } from '../../src/store/relock.ts'
import { migrate } from '../../src/store/migrate.ts'
import { createProtection } from '../../src/store/protection.ts'
import { isScrubDue } from '../../src/store/scrub.ts'
import type { Relock } from '../../src/store/store.ts'

const relock: Relock = async (locked, { from, to }) => `${locked}, from ${from} to ${to}`

/** A database with a sealed secret and these keys, by what is locked. */
async function scene(...keys: string[]) {
  const database = new DatabaseSync(':memory:')
  migrate(database, ':memory:')
  const db = kyselyOf(database)
  onTestFinished(() => db.destroy())
  const from = await createProtection({ method: 'none' })
  const to = await createProtection({ method: 'passphrase', passphrase: 'words' })
  const addKey = (fingerprint: string, locked: string) =>
    db
      .insertInto('own_keys')
      .values({
        fingerprint,
        locked,
        state: locked === '' ? 'destroyed' : 'retired',
        created_at: 1,
        certificate: '',
      })
      .execute()
  for (const locked of keys) await addKey(`key ${locked}`, locked)
  const sealed = from.held.sealer.seal('replay', Buffer.from('a secret'))
  await db.insertInto('secrets').values({ name: 'replay', sealed }).execute()
  await db.insertInto('protection').values(from.row).execute()
  const all = async () => ({
    keys: await db.selectFrom('own_keys').select(['fingerprint', 'locked']).execute(),
    secrets: await db.selectFrom('secrets').selectAll().execute(),
    protection: await db.selectFrom('protection').select('method').execute(),
    isScrubDue: await isScrubDue(db),
  })
  const writeMove = (move: Parameters<typeof writeMoveIn>[1]): Promise<boolean> =>
    db.transaction().execute((transaction) => writeMoveIn(transaction, move))
  return { db, from: from.held, to: { held: to.held, row: to.row }, addKey, all, writeMove }
}

test('every key but a destroyed one is locked anew, from the old master secret to the new one', async () => {
  const { db, from, to } = await scene('a', 'b', '')
  const becomes = (locked: string): object => ({
    was: locked,
    becomes: `${locked}, from ${from.masterSecret} to ${to.held.masterSecret}`,
  })
  expect(Object.fromEntries(await relockAll(db, { from, to: to.held, relock }))).toEqual({
    'key a': becomes('a'),
    'key b': becomes('b'),
  })
  const unprotected = await relockAll(db, { from: null, to: to.held, relock })
  expect(unprotected.get('key a')?.becomes).toBe(`a, from  to ${to.held.masterSecret}`)
})

test('keys, secrets and the protection change in one write, which notes what is to be scrubbed', async () => {
  const { db, from, to, all, writeMove } = await scene('a', '')
  expect((await all()).isScrubDue).toBe(false)
  const relocked = await relockAll(db, { from, to: to.held, relock })
  expect(await writeMove({ from, to, relocked })).toBe(true)
  const { keys, secrets, protection, isScrubDue: isDue } = await all()
  expect(keys).toEqual([
    { fingerprint: 'key a', locked: relocked.get('key a')?.becomes },
    { fingerprint: 'key ', locked: '' },
  ])
  expect([protection, isDue]).toEqual([[{ method: 'passphrase' }], true])
  const [{ name, sealed } = { name: '', sealed: Buffer.alloc(0) }] = secrets
  expect(from.sealer.open(name, sealed)).toBeNull()
  expect(to.held.sealer.open(name, sealed)?.toString()).toBe('a secret')
})

test.each<[string, (scene: Awaited<ReturnType<typeof build>>) => Promise<unknown>]>([
  ['came', ({ addKey }) => addKey('key c', 'c')],
  [
    'was locked otherwise',
    ({ db }) => db.updateTable('own_keys').set({ locked: 'x' }).where('locked', '=', 'a').execute(),
  ],
])('nothing is written when a key %s meanwhile', async (_, meanwhile) => {
  const built = await build()
  const { db, from, to, all, writeMove } = built
  const relocked = await relockAll(db, { from, to: to.held, relock })
  await meanwhile(built)
  const before = await all()
  expect(await writeMove({ from, to, relocked })).toBe(false)
  expect(await all()).toEqual(before)
})

const build = () => scene('a', 'b')

test('a key that is gone meanwhile keeps nothing from moving', async () => {
  const { db, from, to, all, writeMove } = await build()
  const relocked = await relockAll(db, { from, to: to.held, relock })
  await db.deleteFrom('own_keys').where('locked', '=', 'a').execute()
  expect(await writeMove({ from, to, relocked })).toBe(true)
  expect((await all()).keys).toEqual([
    { fingerprint: 'key b', locked: relocked.get('key b')?.becomes },
  ])
})

test('nothing is written when a sealed secret does not open, or nothing is there to open it', async () => {
  for (const isChanged of [true, false]) {
    const { db, from, to, all, writeMove } = await build()
    const relocked = await relockAll(db, { from, to: to.held, relock })
    if (isChanged) await db.updateTable('secrets').set({ name: 'other' }).execute()
    const before = await all()
    const moving = writeMove({ from: isChanged ? from : null, to, relocked })
    await expect(moving).rejects.toMatchObject({
      code: 'store-corrupt',
      message: expect.stringContaining('a sealed secret was changed'),
    })
    expect(await all()).toEqual(before)
  }
})
