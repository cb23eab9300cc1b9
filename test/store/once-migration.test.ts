import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { migrate } from '../../src/store/migrate.ts'
import { MIGRATIONS } from '../../src/store/migrations.ts'
import { temporary } from './support.ts'

test('what an older store knows of updates keeps a message from happening twice', async () => {
  const file = join(temporary(), 'postern.db')
  const database = new DatabaseSync(file)
  const before = MIGRATIONS.findIndex(({ name }) => name === '023-once')
  await migrate(database, file, MIGRATIONS.slice(0, before))
  const seen = database.prepare(
    'INSERT INTO seen (digest, kind, chat_id, message_id, media_id, user_id, seen_at) VALUES (?, ?, 1, ?, ?, 5, 1)',
  )
  seen.run(Buffer.from('a'), 'data', 100, null)
  seen.run(Buffer.from('b'), 'signature', 100, null)
  seen.run(Buffer.from('c'), 'data', 101, null)
  seen.run(Buffer.from('d'), 'data', null, null)
  seen.run(Buffer.from('e'), 'data', null, 'file')
  const outcome = database.prepare(
    'INSERT INTO outcomes (update_id, at, chat_id, message_id, user_id, verdict, delivered) VALUES (?, 1, ?, 100, 5, ?, ?)',
  )
  outcome.run(7, 1, 'replayed', 0)
  outcome.run(8, 2, 'unsigned', 1)
  outcome.run(12, 1, 'verified', 1)
  outcome.run(15, 1, 'verified', 1)
  await migrate(database, file, MIGRATIONS)
  const rows = database.prepare('SELECT digest, update_id FROM seen ORDER BY digest').all()
  expect(
    rows.map((row) => [String.fromCharCode(...(row['digest'] as Uint8Array)), row['update_id']]),
  ).toEqual([
    ['a', 12],
    ['b', null],
    ['c', null],
    ['d', null],
    ['e', null],
  ])
  database.close()
})
