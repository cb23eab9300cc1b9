import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { migrate } from '../../src/store/migrate.ts'
import { MIGRATIONS } from '../../src/store/migrations.ts'
import { temporary } from './support.ts'

test.each([
  ['what a webhook took last was confirmed, with all before it', '41', [{ below: 42 }]],
  ['where no webhook took any, none was', 'NULL', []],
])('in a store of before: %s', async (_name, delivered, rows) => {
  const file = join(temporary(), 'postern.db')
  const database = new DatabaseSync(file)
  const before = MIGRATIONS.findIndex(({ name }) => name === '028-confirmed')
  await migrate(database, file, MIGRATIONS.slice(0, before))
  database.exec(`INSERT INTO webhook (id, delivered_id) VALUES (1, ${delivered})`)
  await migrate(database, file, MIGRATIONS)
  const found = database.prepare('SELECT below FROM confirmed').all()
  expect(found.map((row) => ({ ...row }))).toEqual(rows)
  database.close()
})
