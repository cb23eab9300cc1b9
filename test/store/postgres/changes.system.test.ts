/** Which rows of a store raise its epoch on PostgreSQL, and by which keys others read them again. */
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { migrate } from '../../../src/store/postgres/migrate.ts'
import { PostgresServer } from '../../../src/store/postgres/server.ts'
import { ALL_TABLES, forPostgres } from '../../../src/store/postgres/steps.ts'
import { FOLLOWED_TABLES, type FollowedTable } from '../../../src/store/store.ts'
import { freshSchema, hasPostgres, sharedCluster } from '../../support/postgres.ts'

let url = ''
beforeAll(async () => {
  if (hasPostgres()) ({ url } = await sharedCluster())
})

/** A row of each table, with another value of each column, and its key. */
const ROWS: Record<FollowedTable, [columns: string, values: string, key: string]> = {
  own_keys: [
    'fingerprint, state, created_at, certificate, locked',
    `'f', 'active', 1, 'c', 'l'`,
    'f',
  ],
  chats: ['id, kind, latched_at, person_id', `-5, 'group', 1, 2`, '-5'],
  forgotten: ['person, standing, since', `'p', 'seen', 1`, 'p'],
  people: ['user_id, signed_at', '7, 1', '7'],
  certificates: ['fingerprint, owner', `'f', 1`, 'f'],
  pins: ['user_id, since, standing', `7, 1, 'seen'`, '7'],
  key_changes: ['user_id, before, now', `7, 'b', 'n'`, '7'],
  trust_policies: ['chat_id, policy', `-5, 'pinned'`, '-5'],
  clients: ['name, credential, allows, created_at', `'c', 'h', '{}', 1`, 'c'],
  cursors: ['name, update_id, mark, given, shown', `'c', 5, 'm', 2, '6 m'`, 'c'],
  outbox: [
    'id, state, chat_id, is_for_sealed, created_at, due_at, bytes, heard, call',
    `'i', 'waiting', 1, 1, 1, 1, 1, 0, 'none'`,
    'i',
  ],
  flags: ['name, value', `'n', 'v'`, 'n'],
  webhook: ['id, url, failures', `1, 'u', 9`, '1'],
  protection: [
    'id, method, derivation, n, r, p, salt, proof, digest, master',
    `1, 'none', 'scrypt', 2, 3, 4, '\\x05', '\\x06', '\\x07', '\\x08'`,
    '1',
  ],
}

/** An empty store, and its epoch with what has changed. */
async function scene() {
  const server = new PostgresServer({ url })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const schema = freshSchema()
  await migrate(server, schema)
  await server.ask(`SELECT set_config('search_path', $1, false)`, [schema])
  const state = async () => {
    const [row] = await server.ask<{ epoch: number; writer: number }>('SELECT * FROM state')
    const changes = await server.ask('SELECT relation, key, epoch FROM changes ORDER BY 3, 1, 2')
    return { epoch: row?.epoch, changes }
  }
  return { run: (sql: string) => server.ask(sql), state }
}

describe.skipIf(!hasPostgres())('the epoch of a store on PostgreSQL', () => {
  test('a row in a followed table raises the epoch and is listed in `changes` by its key', async () => {
    const { run, state } = await scene()
    let epoch = 1
    for (const table of FOLLOWED_TABLES) {
      const [columns, values, key] = ROWS[table]
      await run(`INSERT INTO ${table} (${columns}) VALUES (${values})`)
      epoch += 1
      const { changes, ...after } = await state()
      expect([after.epoch, changes.at(-1)]).toEqual([epoch, { relation: table, key, epoch }])
      expect(changes.length).toBe(epoch - 1)
    }
    await run(`DELETE FROM flags`)
    expect((await state()).changes.at(-1)).toEqual({
      relation: 'flags',
      key: 'n',
      epoch: epoch + 1,
    })
    expect((await state()).changes.length).toBe(FOLLOWED_TABLES.length)
  })

  test('a transaction with several changed rows raises the epoch once', async () => {
    const { run, state } = await scene()
    await run(`INSERT INTO flags (name, value) VALUES ('a', '1'), ('b', '2')`)
    await run(`WITH one AS (DELETE FROM flags), other AS (INSERT INTO people (user_id) VALUES (7))
      SELECT 1`)
    const { epoch, changes } = await state()
    expect(epoch).toBe(3)
    expect(changes).toEqual([
      { relation: 'flags', key: 'a', epoch: 3 },
      { relation: 'flags', key: 'b', epoch: 3 },
      { relation: 'people', key: '7', epoch: 3 },
    ])
  })

  test('a change of a key raises the epoch, except of its usage counters', async () => {
    const { run, state } = await scene()
    const [columns, values] = ROWS.own_keys
    await run(`INSERT INTO own_keys (${columns}) VALUES (${values})`)
    const raises = async (change: string): Promise<boolean> => {
      const before = (await state()).epoch ?? 0
      await run(`UPDATE own_keys SET ${change}`)
      return (await state()).epoch === before + 1
    }
    const times = ['offered_at', 'published_at', 'retired_at', 'destroyed_at']
    const followed = times.map((column) => `${column} = 5`)
    for (const change of [...followed, `state = 'retired'`, `certificate = 'd'`, `locked = 'm'`]) {
      expect([change, await raises(change)]).toEqual([change, true])
    }
    for (const change of ['opened_messages = 5', 'last_opened_at = 5']) {
      expect([change, await raises(change)]).toEqual([change, false])
    }
  })

  test('a row in a table without followers does not raise the epoch', async () => {
    const { run, state } = await scene()
    await run(`INSERT INTO names (user_id, username) VALUES (1, 'x')`)
    await run(
      `INSERT INTO journal (at, kind, detail, hash, place) VALUES (1, 'k', 'd', '', 0), (2, 'k', 'd', '', 0)`,
    )
    await run(`INSERT INTO turns (name, process) VALUES ('poll', 1)`)
    await run(`INSERT INTO presence (process) VALUES (1)`)
    expect(await state()).toEqual({ epoch: 1, changes: [] })
    expect(await run('SELECT id FROM journal ORDER BY id')).toEqual([{ id: 1 }, { id: 2 }])
    expect(await run('SELECT wanted FROM turns')).toEqual([{ wanted: false }])
  })

  test('a migrated schema has exactly the tables of its steps and the index `changes_by_epoch`', async () => {
    const { run } = await scene()
    const found = await run(
      `SELECT relname AS name FROM pg_class
       WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'`,
    )
    expect(found.map(({ name }) => name).toSorted()).toEqual(ALL_TABLES.toSorted())
    const [index] = await run(`SELECT to_regclass('changes_by_epoch') IS NOT NULL AS there`)
    expect(index).toEqual({ there: true })
  })
})

test.each([
  [
    'CREATE TABLE t (a INTEGER NOT NULL, b BLOB) STRICT',
    'CREATE TABLE t (a bigint NOT NULL, b bytea)',
  ],
  [
    'CREATE TABLE t (a BLOB, b INTEGER) STRICT, WITHOUT ROWID',
    'CREATE TABLE t (a bytea, b bigint)',
  ],
  [
    'CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL) STRICT',
    'CREATE TABLE t (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY NOT NULL)',
  ],
  ['ALTER TABLE t ADD c INTEGER', 'ALTER TABLE t ADD c bigint'],
  ['SELECT INTEGERS, A_BLOB', 'SELECT INTEGERS, A_BLOB'],
])('`forPostgres` translates "%s" into "%s"', (statement, expected) => {
  expect(forPostgres(statement)).toBe(expected)
})
