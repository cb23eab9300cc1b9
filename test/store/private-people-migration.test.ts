import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { migrate } from '../../src/store/migrate.ts'
import { MIGRATIONS } from '../../src/store/migrations.ts'
import { temporary } from './support.ts'

test('a private chat of an older store is the one person’s whom its key list named', async () => {
  const file = join(temporary(), 'postern.db')
  const database = new DatabaseSync(file)
  const before = MIGRATIONS.findIndex(({ name }) => name === '021-proof')
  await migrate(database, file, MIGRATIONS.slice(0, before))
  const chat = database.prepare('INSERT INTO chats (id, kind) VALUES (?, ?)')
  const list = database.prepare('INSERT INTO lists (chat_id, people) VALUES (?, ?)')
  const chats: [number, string, unknown][] = [
    [1, 'private', [[11, 'aa']]],
    [
      2,
      'private',
      [
        [12, 'aa'],
        [13, 'bb'],
      ],
    ],
    [3, 'private', []],
    [4, 'private', null],
    [5, 'group', [[15, 'aa']]],
  ]
  for (const [id, kind, people] of chats) {
    chat.run(id, kind)
    if (people !== null) list.run(id, JSON.stringify(people))
  }
  await migrate(database, file, MIGRATIONS)
  const rows = database.prepare('SELECT id, person_id FROM chats ORDER BY id').all()
  expect(rows.map(({ id, person_id: person }) => [id, person])).toEqual([
    [1, 11],
    [2, null],
    [3, null],
    [4, null],
    [5, null],
  ])
  database.close()
})
