import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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

test('a new store has the tables that a move carries, and these indexes', () => {
  expect(namesOf('table')).toEqual([...CARRIED_TABLES].toSorted())
  expect(namesOf('index')).toEqual([
    'media_by_time',
    'outcomes_by_time',
    'outcomes_by_update',
    'own_keys_once',
    'seen_by_time',
    'seen_counted_anew',
    'sent_by_time',
  ])
})

test('every step raises the version by one, from that of 0.1.0', () => {
  const versions = MIGRATIONS.map(({ version }) => version)
  expect(versions).toEqual(versions.map((_, index) => FIRST_VERSION + index))
  expect(pragma(database, 'user_version')).toBe(versions.at(-1))
})

const KEY = `INSERT INTO own_keys (fingerprint, state, created_at, certificate, locked)`

describe('a row that breaks a rule is refused', () => {
  test.each([
    ['a key of another state', `${KEY} VALUES ('a', 'other', 1, 'c', 'l')`, /CHECK/],
    [
      'a key without a secret that is not destroyed',
      `${KEY} VALUES ('a', 'retired', 1, 'c', '')`,
      /CHECK/,
    ],
    ['a destroyed key with a secret', `${KEY} VALUES ('a', 'destroyed', 1, 'c', 'l')`, /CHECK/],
    [
      'two keys that wait',
      `${KEY} VALUES ('a', 'pending', 1, 'c', 'l'), ('b', 'pending', 1, 'c', 'l')`,
      /UNIQUE/,
    ],
    [
      'two active keys',
      `${KEY} VALUES ('a', 'active', 1, 'c', 'l'), ('b', 'active', 1, 'c', 'l')`,
      /UNIQUE/,
    ],
    [
      'a key twice',
      `${KEY} VALUES ('a', 'retired', 1, 'c', 'l'), ('a', 'retired', 1, 'c', 'l')`,
      /UNIQUE/,
    ],
    ['a key without a certificate', `${KEY} VALUES ('a', 'retired', 1, NULL, 'l')`, /NOT NULL/],
    [
      'a time that is no number',
      `${KEY} VALUES ('a', 'retired', 'now', 'c', 'l')`,
      /cannot store TEXT/,
    ],
    [
      'a second protection',
      `INSERT INTO protection VALUES (2, 'none', 2, 8, 1, x'00', x'00', x'00', x'00', 'scrypt', NULL)`,
      /CHECK/,
    ],
    ['a second webhook', `INSERT INTO webhook (id) VALUES (2)`, /CHECK/],
    [
      'a pin of another standing',
      `INSERT INTO pins (user_id, since, standing) VALUES (1, 1, 'liked')`,
      /CHECK/,
    ],
    ['a policy of another name', `INSERT INTO trust_policies VALUES (1, 'none')`, /CHECK/],
    [
      'something else that was seen',
      `INSERT INTO seen (digest, kind, chat_id, seen_at) VALUES (x'00', 'other', 1, 1)`,
      /CHECK/,
    ],
    ['a secret that is text', `INSERT INTO secrets VALUES ('a', 'text')`, /cannot store TEXT/],
    ['a chat without a kind', `INSERT INTO chats (id) VALUES (1)`, /NOT NULL/],
    [
      'an attachment twice',
      `INSERT INTO media VALUES ('a', 1, '', 1, NULL), ('a', 1, '', 1, NULL)`,
      /UNIQUE/,
    ],
    [
      'a key of a person twice',
      `INSERT INTO encryption_keys VALUES ('a', 1, 0), ('a', 1, 0)`,
      /UNIQUE/,
    ],
    ['a certificate twice', `INSERT INTO certificates (fingerprint) VALUES ('a'), ('a')`, /UNIQUE/],
  ])('%s', (_, statement, reason) => {
    expect(() => database.exec(statement)).toThrow(reason)
  })
})

test('one key that waits, one active and any number of old ones are taken', () => {
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
])('no table is read whole for %s', (statement, index) => {
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${statement}`).all()
  expect(JSON.stringify(plan)).toContain(index)
})

test('an entry of the journal never gets the number of one that is gone', () => {
  database.exec('BEGIN')
  const add = "INSERT INTO journal (at, kind, detail) VALUES (1, 'a', '{}')"
  database.exec(`${add}; ${add}; DELETE FROM journal; ${add}`)
  const row = database.prepare('SELECT id FROM journal').get()
  database.exec('ROLLBACK')
  expect({ ...row }).toEqual({ id: 3 })
})
