/** How a sidecar whose bot is at rest learns what others wrote. */
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { PostgresServer } from '../../../src/store/postgres/server.ts'
import type { Store } from '../../../src/store/store.ts'
import { freshSchema, hasPostgres, sharedCluster } from '../../support/postgres.ts'
import { put } from '../support.ts'
import { openOn, pair, serverOf } from './scene.ts'

/** The SQL that a process asks by its session from now on. */
function askedOf(server: PostgresServer): string[] {
  const asked: string[] = []
  const { session } = server
  const queryAll = session.queryAll.bind(session)
  vi.spyOn(session, 'queryAll').mockImplementation((questions) => {
    // the session itself asks each 750 ms, for no epoch
    asked.push(...questions.map(({ text }) => text).filter((text) => text.includes('epoch')))
    return queryAll(questions)
  })
  return asked
}

/** The keys of flags that a store reads again. */
function flagsRead(store: Store): string[] {
  const read: string[] = []
  store.follow('flags', async (_db, keys) => void read.push(...keys))
  return read
}

/** Lets a minute pass for whoever looks at the clock that never goes back. */
function passMinute(): void {
  const now = performance.now.bind(performance)
  const later = vi.spyOn(performance, 'now').mockImplementation(() => now() + 60_000)
  onTestFinished(() => later.mockRestore())
}

/** Two processes, the second of which is at rest. */
async function resting() {
  const { one, two, servers, schema } = await pair()
  const own = servers[1] as PostgresServer
  const read = flagsRead(two)
  await two.keepUp()
  return { one, two, own, schema, read, asked: askedOf(own) }
}

describe.skipIf(!hasPostgres())('a sidecar at rest', () => {
  test('an idle sidecar reads the changes that were made while its connection was lost', async () => {
    const { one, two, own, read, asked } = await resting()
    own.session.cut()
    await put(one, 'meanwhile', 'x')
    await two.keepUp()
    expect(read).toEqual(['meanwhile'])
    const before = asked.length
    await two.keepUp()
    expect(asked.length).toBe(before)
  })

  test('an idle sidecar detects that a rolled-back database has caught up', async () => {
    const { two, schema } = await resting()
    const cluster = await sharedCluster()
    const move = (by: string) => cluster.sql(`UPDATE ${schema}.state SET epoch = epoch ${by}`)
    const reach: unknown[] = []
    two.onReachability((now) => reach.push(now))
    await put(two, 'seen', 'x')
    move('- 1')
    await expect(put(two, 'a', 'x')).rejects.toMatchObject({ code: 'postern_store_unwritable' })
    await expect(two.keepUp()).rejects.toMatchObject({ code: 'postern_store_unwritable' })
    move('+ 1')
    await two.keepUp()
    expect(reach).toEqual(['rolled-back', 'reachable'])
  })
})

describe.skipIf(!hasPostgres())('several stores of an idle process', () => {
  /** Several stores of one process at rest, and how another process writes to the first of them. */
  async function several() {
    const { url } = await sharedCluster()
    const schemas = [freshSchema(), freshSchema(), freshSchema()]
    const own = serverOf(url)
    const other = serverOf(url)
    const stores: Store[] = []
    for (const schema of schemas) stores.push(await openOn(own, schema))
    const read = stores.map(flagsRead)
    for (const store of stores) await store.keepUp()
    await put(await openOn(other, schemas[0] ?? ''), 'written', 'x')
    const keepUp = () => Promise.allSettled(stores.map((store) => store.keepUp()))
    await keepUp()
    expect(read).toEqual([[], [], []])
    return { schemas, keepUp, read, asked: askedOf(own) }
  }

  test('an idle process reads the change of one store within a minute by one query for all stores', async () => {
    const { schemas, keepUp, read, asked } = await several()
    passMinute()
    await keepUp()
    expect(read).toEqual([['written'], [], []])
    const tables = asked.map((sql) => schemas.filter((schema) => sql.includes(schema)))
    expect(tables).toEqual([schemas, schemas.slice(0, 1)])
    await keepUp()
    expect(asked.length).toBe(2)
  })

  test('an idle process reads the change of one store although the tables of another store are gone', async () => {
    const { schemas, keepUp, read } = await several()
    const cluster = await sharedCluster()
    cluster.sql(`DROP TABLE ${schemas[1]}.state`)
    passMinute()
    await keepUp()
    const kept = await keepUp()
    expect(kept.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(read[0]).toEqual(['written'])
  })
})
