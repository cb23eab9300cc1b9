/** What `postern check` says of a real database. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { checkDatabase, databaseLines } from '../../../src/operators/doctor/check-database.ts'
import { FIRST_VERSION, NEWEST_VERSION } from '../../../src/store/migrations.ts'
import { databaseOf } from '../../../src/store/postgres/migrate.ts'
import { put } from '../../store/support.ts'
import { openOn, serverOf } from '../../store/postgres/scene.ts'
import { freshSchema, hasPostgres, ownCluster, sharedCluster } from '../../support/postgres.ts'
import type { Cluster } from '../../support/postgres.ts'

let own: ReturnType<typeof ownCluster>
let cluster: Cluster
beforeAll(() => {
  if (!hasPostgres()) return
  own = ownCluster()
  cluster = own.cluster
  cluster.letIn('local all guarded scram-sha-256', 'local all all trust')
  cluster.start()
  cluster.sql(`CREATE ROLE plain LOGIN; CREATE ROLE guarded LOGIN PASSWORD 'right'`)
})
afterAll(() => own?.[Symbol.dispose]())

/** `name: level` of each line, and all that they say. */
async function look(url: string, schema = freshSchema()) {
  const lines = await checkDatabase({ url, schema })
  return {
    levels: lines.map(({ name, level }) => `${name} ${level}`),
    text: lines.map(({ message, hint = '' }) => `${message}. ${hint}`).join('\n'),
  }
}

describe.skipIf(!hasPostgres())('`checkDatabase`', () => {
  test('a healthy database passes every check, before and after the store is made', async () => {
    const schema = freshSchema()
    const levels = ['database pass', 'commits pass', 'schema pass']
    const before = await look(cluster.url, schema)
    expect(before.levels).toEqual(levels)
    expect(before.text).toMatch(/PostgreSQL \d+.* as postern: on this machine, without TLS/)
    expect(before.text).toContain('for no standby')
    expect(before.text).toContain(`there is no ${schema} yet`)
    await put(await openOn(serverOf(cluster.url), schema), 'a', 'b')
    const after = await look(cluster.url, schema)
    expect(after.levels).toEqual(levels)
    expect(after.text).toContain(`${schema} has version ${NEWEST_VERSION}`)
  })

  test('the check of commits names the synchronous standbys', async () => {
    const set = (names: string): string =>
      cluster.sql(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`)
    set('ANY 1 (db2, db3)')
    onTestFinished(() => {
      set('')
      cluster.sql('SELECT pg_reload_conf()')
    })
    cluster.sql('SELECT pg_reload_conf()')
    await expect.poll(async () => (await look(cluster.url)).text).toContain('ANY 1 (db2, db3)')
  })

  test('a server with fsync off is a warning', async () => {
    const { levels, text } = await look((await sharedCluster()).url)
    expect(levels).toEqual(['database pass', 'commits warn', 'schema pass'])
    expect(text).toContain('fsync is off')
  })

  test.each([
    ['is not reached', () => 'postgres://u:pass-word@/d?host=/nowhere'],
    ['does not let this user in', () => cluster.urlOf('guarded').replace('@', ':pass-word@')],
    ['there is no such database', () => cluster.urlOf('plain', 'nothing')],
    ['several hosts', () => 'postgres://u:pass-word@a,b/d'],
  ])(
    'a database fails its check with the reason “%s” and without its password',
    async (words, url) => {
      const { levels, text } = await look(url())
      expect(levels).toEqual(['database fail'])
      expect(text).toContain(words)
      expect(text).not.toContain('pass-word')
    },
  )

  test('a standby fails the check of the database', async () => {
    cluster.sql('ALTER ROLE plain SET default_transaction_read_only = on')
    onTestFinished(() => void cluster.sql('ALTER ROLE plain RESET default_transaction_read_only'))
    expect((await look(cluster.urlOf('plain'))).text).toContain('takes no writes')
  })

  test('a schema that the user cannot make or does not own fails its check', async () => {
    const none = await look(cluster.urlOf('plain'))
    expect(none.levels).toEqual(['database pass', 'commits pass', 'schema fail'])
    expect(none.text).toContain('may not make it')
    const schema = freshSchema()
    await openOn(serverOf(cluster.url), schema)
    const closed = await look(cluster.urlOf('plain'), schema)
    expect(closed.levels).toEqual(['database fail'])
    expect(closed.text).toContain('make or use the store’s schema')
    cluster.sql(`GRANT USAGE ON SCHEMA ${schema} TO plain`)
    const foreign = await look(cluster.urlOf('plain'), schema)
    expect(foreign.levels).toEqual(['database pass', 'commits pass', 'schema fail'])
    expect(foreign.text).toMatch(/\d+ tables of .* belong to another user/)
  })

  test('a schema that is too new or from before 0.1.0 fails its check', async () => {
    const server = serverOf(cluster.url)
    const schema = freshSchema()
    await openOn(server, schema)
    await databaseOf(server, schema).updateTable('state').set({ version: 99, oldest: 99 }).execute()
    const { levels, text } = await look(cluster.url, schema)
    expect(levels).toEqual(['database pass', 'commits pass', 'schema fail'])
    expect(text).toContain(`version 99, and this Postern knows versions up to ${NEWEST_VERSION}`)
    const version = FIRST_VERSION - 1
    await databaseOf(server, schema).updateTable('state').set({ version, oldest: 0 }).execute()
    const before = await look(cluster.url, schema)
    expect(before.levels).toEqual(['database pass', 'commits pass', 'schema fail'])
    expect(before.text).toContain(`version ${version}, from before Postern 0.1.0`)
  })
})

test('a server older than PostgreSQL 14 fails its check', () => {
  const state = {
    place: 'd at db:5432 as u',
    version: '13.20',
    versionNumber: 130_020,
    tls: 'TLSv1.3',
    standbys: '',
    isFsyncOn: true,
    schema: { foreignTables: 0, store: { version: NEWEST_VERSION, oldest: NEWEST_VERSION } },
    canMakeSchema: true,
  }
  const lines = databaseLines(state, { name: 'postern', newest: NEWEST_VERSION + 1 })
  expect(lines.map(({ level }) => level)).toEqual(['fail', 'pass', 'pass'])
  expect(lines[0]?.hint).toContain('version 14')
  expect(lines[2]?.message).toContain(`brings to ${NEWEST_VERSION + 1}`)
  const newer = { ...state, versionNumber: 140_000 }
  const [server] = databaseLines(newer, { name: 'postern', newest: NEWEST_VERSION + 1 })
  expect(server?.level).toBe('pass')
  expect(server?.message).toContain('TLSv1.3, and it proves who it is')
})
