/** The schema on PostgreSQL against that of a file: the same tables, the same columns. */
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { NEWEST_VERSION } from '../../../src/store/migrations.ts'
import { findVersion, migrate } from '../../../src/store/postgres/migrate.ts'
import { Presence, takeAlone } from '../../../src/store/postgres/open-lock.ts'
import { ALL_TABLES, POSTGRES_STEPS } from '../../../src/store/postgres/steps.ts'
import { FOLLOWED_TABLES } from '../../../src/store/store.ts'
import { CARRIED_TABLES } from '../../../src/store/carry.ts'
import { freshSchema, hasPostgres, sharedCluster } from '../../support/postgres.ts'
import { open, temporary } from '../support.ts'
import { openOn, serverOf } from './scene.ts'

const NEXT = NEWEST_VERSION + 1
const added = { version: NEXT, isAdditive: true, statements: ['CREATE TABLE more (id bigint)'] }
const changed = { version: NEXT + 1, isAdditive: false, statements: ['DROP TABLE more'] }

test('each migration step has a PostgreSQL step, and every table is carried by a move', () => {
  expect(POSTGRES_STEPS.at(-1)?.version).toBe(NEWEST_VERSION)
  const carried = [...CARRIED_TABLES, 'state', 'changes', 'presence', 'turns']
  expect(ALL_TABLES.toSorted()).toEqual(carried.toSorted())
})

describe.skipIf(!hasPostgres())('migration on PostgreSQL', () => {
  test('a schema on PostgreSQL has the columns of a store file and triggers on every followed table', async () => {
    const store = await open(temporary())
    const schema = freshSchema()
    const server = serverOf((await sharedCluster()).url)
    await openOn(server, schema)
    const ofFile = await store.read((db) =>
      sql<{ t: string; c: string; n: number }>`
        SELECT m.name AS t, c.name AS c, c."notnull" AS n
        FROM sqlite_schema m, pragma_table_info(m.name) c
        WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%'`.execute(db),
    )
    const ofServer = await sql<{ t: string; c: string; n: number }>`
      SELECT table_name AS t, column_name AS c, (is_nullable = 'NO')::int AS n
      FROM information_schema.columns
      WHERE table_schema = ${schema} AND table_name NOT IN ('state', 'changes', 'presence', 'turns')`.execute(
      server.databaseFor(schema),
    )
    const sorted = (rows: { t: string; c: string; n: number }[]): string[] =>
      rows.map(({ t, c, n }) => `${t}.${c} ${n}`).toSorted()
    expect(sorted(ofServer.rows)).toEqual(sorted(ofFile.rows))
    const triggers = await sql<{ t: string }>`
      SELECT DISTINCT event_object_table AS t FROM information_schema.triggers
      WHERE trigger_schema = ${schema}`.execute(server.databaseFor(schema))
    expect(triggers.rows.map(({ t }) => t).toSorted()).toEqual([...FOLLOWED_TABLES].toSorted())
  })

  test('an additive step runs while a sidecar is open, and runs once for concurrent migrations', async () => {
    const { url } = await sharedCluster()
    const schema = freshSchema()
    const server = serverOf(url)
    const store = await openOn(server, schema)
    const steps = [...POSTGRES_STEPS, added]
    const servers = Array.from({ length: 4 }, () => serverOf(url))
    await Promise.all(servers.map((one) => migrate(one, schema, steps)))
    expect(await findVersion(server.databaseFor(schema), schema, POSTGRES_STEPS)).toBe(NEXT)
    await store.fresh()
    await openOn(serverOf(url), schema)
  })

  test('a breaking step is refused while a sidecar has the store open, and older programs are refused after it', async () => {
    const { url } = await sharedCluster()
    const schema = freshSchema()
    const server = serverOf(url)
    await migrate(server, schema, [...POSTGRES_STEPS, added])
    const presence = new Presence(server, schema)
    await presence.ensure()
    const steps = [...POSTGRES_STEPS, added, changed]
    const other = serverOf(url)
    await expect(migrate(other, schema, steps)).rejects.toMatchObject({ code: 'store-in-use' })
    expect(await findVersion(other.databaseFor(schema), schema, steps)).toBe(NEXT)
    await presence[Symbol.asyncDispose]()
    await migrate(other, schema, steps)
    await expect(openOn(server, schema)).rejects.toMatchObject({ code: 'store-newer' })
  })

  test('a store that one process holds alone is refused to others and stays held without an idle timeout', async () => {
    const { url } = await sharedCluster()
    const schema = freshSchema()
    const server = serverOf(url)
    await openOn(serverOf(url), schema).then((store) => store[Symbol.asyncDispose]())
    await using alone = await takeAlone(server, schema)
    await expect(openOn(serverOf(url), schema)).rejects.toMatchObject({
      code: 'store-in-use',
      message: expect.stringContaining('is being moved') as string,
    })
    const limit = await server.session.query('SHOW idle_session_timeout')
    expect([limit, alone]).toEqual([[{ idle_session_timeout: '0' }], expect.anything()])
  })

  test('a failing step leaves the schema unchanged', async () => {
    const { url } = await sharedCluster()
    const schema = freshSchema()
    const server = serverOf(url)
    await openOn(server, schema)
    const broken = { version: NEXT, isAdditive: true, statements: [...added.statements, 'BROKEN'] }
    await expect(migrate(server, schema, [...POSTGRES_STEPS, broken])).rejects.toThrow('BROKEN')
    await migrate(server, schema, [...POSTGRES_STEPS, added])
    expect(await findVersion(server.databaseFor(schema), schema, [...POSTGRES_STEPS, added])).toBe(
      NEXT,
    )
  })
})
