import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CARRIED_TABLES } from '../../src/store/carry.ts'
import { migrate } from '../../src/store/migrate.ts'
import { FIRST_VERSION, MIGRATIONS } from '../../src/store/migrations.ts'
import { pragma } from '../../src/store/sqlite.ts'
import { schemaOf } from './support.ts'

let database: DatabaseSync
beforeAll(() => {
  database = new DatabaseSync(':memory:')
  migrate(database, ':memory:')
})
afterAll(() => database.close())

const namesOf = (type: 'table' | 'index'): string[] =>
  schemaOf(database).flatMap((row) => (row.type === type ? [row.name] : []))

test('a new store has the tables that a move carries, and its indexes', () => {
  expect(namesOf('table')).toEqual([...CARRIED_TABLES].toSorted())
  expect(namesOf('index')).toEqual([
    'journal_first',
    'media_by_time',
    'outcomes_by_time',
    'outcomes_by_update',
    'own_keys_once',
    'seen_by_time',
    'seen_counted_anew',
    'sent_by_time',
  ])
})

test('every migration step raises the version by one, starting with the version of 0.1.0', () => {
  const versions = MIGRATIONS.map(({ version }) => version)
  expect(versions).toEqual(versions.map((_, index) => FIRST_VERSION + index))
  expect(pragma(database, 'user_version')).toBe(versions.at(-1))
})

const KEY = `INSERT INTO own_keys (fingerprint, state, created_at, certificate, locked)`

test.each([
  ['a retired key without a secret', `${KEY} VALUES ('a', 'retired', 1, 'c', '')`, /CHECK/],
  ['a destroyed key with a secret', `${KEY} VALUES ('a', 'destroyed', 1, 'c', 'l')`, /CHECK/],
  [
    'two pending keys',
    `${KEY} VALUES ('a', 'pending', 1, 'c', 'l'), ('b', 'pending', 1, 'c', 'l')`,
    /UNIQUE/,
  ],
  [
    'two active keys',
    `${KEY} VALUES ('a', 'active', 1, 'c', 'l'), ('b', 'active', 1, 'c', 'l')`,
    /UNIQUE/,
  ],
  [
    'a second protection',
    `INSERT INTO protection VALUES (2, 'none', 'scrypt', 2, 8, 1, x'00', x'00', x'00', x'00', NULL)`,
    /CHECK/,
  ],
  ['a second webhook', `INSERT INTO webhook (id) VALUES (2)`, /CHECK/],
])('the schema refuses %s', (_, statement, reason) => {
  expect(() => database.exec(statement)).toThrow(reason)
})

test('a store may have one pending, one active and several old keys', () => {
  database.exec('BEGIN')
  database.exec(
    `${KEY} VALUES ('a', 'pending', 1, 'c', 'l'), ('b', 'active', 1, 'c', 'l'),
       ('c', 'retired', 1, 'c', 'l'), ('d', 'retired', 1, 'c', 'l'),
       ('e', 'destroyed', 1, 'c', ''), ('f', 'destroyed', 1, 'c', '')`,
  )
  const opened = database.prepare('SELECT opened_messages, opened_media FROM own_keys').get()
  database.exec('ROLLBACK')
  expect({ ...opened }).toEqual({ opened_messages: 0, opened_media: 0 })
})

test.each([
  ['DELETE FROM seen WHERE seen_at < 1', 'seen_by_time'],
  ['DELETE FROM media WHERE named_at < 1', 'media_by_time'],
  ['DELETE FROM outcomes WHERE at < 1', 'outcomes_by_time'],
  ['SELECT * FROM outcomes WHERE update_id = 1', 'outcomes_by_update'],
  ['DELETE FROM sent WHERE at < 1', 'sent_by_time'],
])('the statement "%s" uses an index', (statement, index) => {
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${statement}`).all()
  expect(JSON.stringify(plan)).toContain(index)
})

test('a journal number is never used again after a deletion', () => {
  database.exec('BEGIN')
  const add = "INSERT INTO journal (at, kind, detail, hash, place) VALUES (1, 'a', '{}', x'00', 0)"
  database.exec(`${add}; ${add}; DELETE FROM journal; ${add}`)
  const row = database.prepare('SELECT id FROM journal').get()
  database.exec('ROLLBACK')
  expect({ ...row }).toEqual({ id: 3 })
})
