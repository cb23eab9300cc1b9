import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { migrate } from '../../src/store/migrate.ts'
import { MIGRATIONS } from '../../src/store/migrations.ts'
import { temporary } from './support.ts'

test('of whose a certificate was believed to be, only the operator’s word and revocations are kept', async () => {
  const file = join(temporary(), 'postern.db')
  const database = new DatabaseSync(file)
  const before = MIGRATIONS.findIndex(({ name }) => name === '022-claims')
  await migrate(database, file, MIGRATIONS.slice(0, before))
  const pin = database.prepare(
    'INSERT INTO pins (user_id, fingerprint, since, standing, listed) VALUES (?, ?, 1, ?, ?)',
  )
  const bound = database.prepare(
    'INSERT INTO certificates (fingerprint, user_id, first_seen_at, revoked_armored) VALUES (?, ?, 1, ?)',
  )
  bound.run('seen', 1, null)
  pin.run(1, 'seen', 'seen', 'seen')
  bound.run('accepted', 2, null)
  pin.run(2, 'accepted', 'accepted', 'accepted')
  bound.run('verified', 3, 'revoked')
  pin.run(3, 'verified', 'verified', 'other')
  bound.run('other', 3, null)
  bound.run('revoked', 4, 'revoked')
  pin.run(4, 'revoked', 'seen', 'revoked')
  bound.run('blocked', 5, null)
  pin.run(5, 'blocked', 'blocked', 'blocked')
  await migrate(database, file, MIGRATIONS)
  const rows = database.prepare('SELECT * FROM certificates ORDER BY fingerprint').all()
  expect(rows.map((row) => ({ ...row }))).toEqual([
    { fingerprint: 'accepted', owner: 2, revoked_armored: null },
    { fingerprint: 'revoked', owner: null, revoked_armored: 'revoked' },
    { fingerprint: 'verified', owner: 3, revoked_armored: 'revoked' },
  ])
  database.close()
})
