/** How a real database looks to an operator. */
import { beforeAll, describe, expect, test } from 'vitest'
import { FIRST_VERSION, NEWEST_VERSION } from '../../../src/store/migrations.ts'
import { lookAtDatabase } from '../../../src/store/postgres/look.ts'
import { migrate } from '../../../src/store/postgres/migrate.ts'
import { freshSchema, hasPostgres, sharedCluster, type Cluster } from '../../support/postgres.ts'
import { serverOf } from './scene.ts'

const [LOOKER, READER] = ['looker_of_tests', 'reader_of_tests']
let cluster: Cluster
beforeAll(async () => {
  if (!hasPostgres()) return
  cluster = await sharedCluster()
  const isThere = cluster.sql(`SELECT count(*) FROM pg_roles WHERE rolname = '${LOOKER}'`)
  if (isThere.trim() !== '0') return
  cluster.sql(`CREATE ROLE ${LOOKER} LOGIN; CREATE ROLE ${READER} LOGIN;
    ALTER ROLE ${READER} SET default_transaction_read_only = on`)
})

describe.skipIf(!hasPostgres())('`lookAtDatabase`', () => {
  test('`lookAtDatabase` reports the server, the user and a missing schema', async () => {
    const { version, versionNumber, ...state } = await lookAtDatabase({
      url: cluster.url,
      schema: freshSchema(),
    })
    expect(version).toMatch(/^\d+\.\d+/)
    expect(Math.floor(versionNumber / 10_000)).toBe(Number.parseInt(version, 10))
    expect(state).toEqual({
      place: `postgres at ${cluster.folder} as postern`,
      tls: null,
      standbys: '',
      isFsyncOn: false,
      canMakeSchema: true,
      schema: null,
    })
  })

  test('`lookAtDatabase` reports the version of a store, and foreign tables to another user', async () => {
    const schema = freshSchema()
    const look = async (url = cluster.url) => {
      const { canMakeSchema, ...state } = await lookAtDatabase({ url, schema })
      return [state.schema, canMakeSchema]
    }
    cluster.sql(`CREATE SCHEMA ${schema}; GRANT USAGE ON SCHEMA ${schema} TO ${LOOKER}`)
    expect(await look()).toEqual([{ foreignTables: 0, store: null }, true])
    await migrate(serverOf(cluster.url), schema)
    const newest = { version: NEWEST_VERSION, oldest: FIRST_VERSION }
    expect(await look()).toEqual([{ foreignTables: 0, store: newest }, true])
    const [others, mayMake] = await look(cluster.urlOf(LOOKER))
    expect(others).toEqual({ foreignTables: expect.any(Number) as number, store: null })
    expect(mayMake).toBe(false)
    expect((others as { foreignTables: number }).foreignTables).toBeGreaterThan(10)
  })

  test('`lookAtDatabase` counts only the tables that other users own', async () => {
    const schema = freshSchema()
    cluster.sql(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.one (); CREATE TABLE ${schema}.two ();
      CREATE SEQUENCE ${schema}.three; CREATE VIEW ${schema}.four AS SELECT 1;
      GRANT ALL ON SCHEMA ${schema} TO ${LOOKER}; ALTER TABLE ${schema}.two OWNER TO ${LOOKER}`)
    const { schema: state } = await lookAtDatabase({ url: cluster.urlOf(LOOKER), schema })
    expect(state).toEqual({ foreignTables: 1, store: null })
  })
})
