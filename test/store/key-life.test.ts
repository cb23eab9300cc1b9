import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { migrate } from '../../src/store/migrate.ts'
import { MIGRATIONS } from '../../src/store/migrations.ts'
import { temporary } from './support.ts'

const OWN = MIGRATIONS.findIndex(({ name }) => name === '013-key-life')
const EARLY = `INSERT INTO own_keys (fingerprint, state, created_at, published_at, retired_at, certificate, locked)
  VALUES ('aa', 'retired', 1, 2, 3, 'A', 'a'), ('bb', 'active', 4, 5, NULL, 'B', 'b'),
         ('cc', 'pending', 6, NULL, NULL, 'C', 'c')`

async function upgraded(): Promise<DatabaseSync> {
  const file = join(temporary(), 'postern.db')
  const database = new DatabaseSync(file)
  await migrate(database, file, MIGRATIONS.slice(0, OWN))
  database.exec(EARLY)
  await migrate(database, file, MIGRATIONS)
  return database
}

test('keys of an earlier version are taken over; any of them may be known to the service', async () => {
  const database = await upgraded()
  const rows = database.prepare('SELECT * FROM own_keys ORDER BY fingerprint').all()
  expect(rows.map((row) => ({ ...row }))).toMatchObject([
    { fingerprint: 'aa', state: 'retired', offered_at: 1, retired_at: 3, locked: 'a' },
    { fingerprint: 'bb', state: 'active', offered_at: 4, published_at: 5, certificate: 'B' },
    {
      fingerprint: 'cc',
      state: 'pending',
      offered_at: 6,
      opened_messages: 0,
      last_opened_at: null,
    },
  ])
})

test.each([
  ['a second pending key', `UPDATE own_keys SET state = 'pending' WHERE fingerprint = 'aa'`],
  ['a second active key', `UPDATE own_keys SET state = 'active' WHERE fingerprint = 'aa'`],
  [
    'a key without a secret that is not destroyed',
    `UPDATE own_keys SET locked = '' WHERE fingerprint = 'aa'`,
  ],
  [
    'a destroyed key with its secret',
    `UPDATE own_keys SET state = 'destroyed' WHERE fingerprint = 'aa'`,
  ],
  ['a state that there is not', `UPDATE own_keys SET state = 'lost' WHERE fingerprint = 'aa'`],
])('the store itself refuses %s', async (_what, statement) => {
  const database = await upgraded()
  expect(() => database.exec(statement)).toThrow(/constraint/i)
})
