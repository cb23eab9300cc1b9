/** A pooler between a sidecar and its database: locks of one are locks of all whom it serves. */
import { sql } from 'kysely'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { OperatorError } from '../../../src/errors.ts'
import { checkDatabase } from '../../../src/operators/doctor/check-database.ts'
import { Relay } from '../../faults/relay.ts'
import { hasPgbouncer, startPgbouncer, type Pooler } from '../../support/pgbouncer.ts'
import { freshSchema, hasPostgres, sharedCluster, type Cluster } from '../../support/postgres.ts'
import { put } from '../support.ts'
import { openOn, serverOf } from './scene.ts'

/** Has a connection made, without what it asks for. */
const IGNORING =
  'ignore_startup_parameters=options,statement_timeout,lock_timeout,idle_in_transaction_session_timeout'

let cluster: Cluster
beforeAll(async () => {
  if (hasPostgres()) cluster = await sharedCluster()
})

async function pooler(...settings: string[]): Promise<Pooler> {
  const started = await startPgbouncer(cluster, settings)
  onTestFinished(() => started[Symbol.asyncDispose]())
  return started
}

describe.skipIf(!hasPostgres() || !hasPgbouncer())('a pooler between sidecar and database', () => {
  test.each(['transaction', 'session', 'statement'])(
    'a pooler in %s mode that drops connection settings is refused, and no schema is made',
    async (mode) => {
      const { url } = await pooler(`pool_mode=${mode}`, IGNORING)
      const schema = freshSchema()
      // on a busy machine its first connection may be too late
      const open = (): Promise<string> =>
        openOn(serverOf(url), schema).then(
          () => 'open',
          ({ code }: OperatorError) => code,
        )
      await expect.poll(open).toBe('store-pooler')
      expect(cluster.sql(`SELECT to_regnamespace('${schema}') IS NULL`)).toBe('t')
    },
  )

  test('a pooler that rejects connection settings is refused with `store-pooler`, also by the check', async () => {
    const { url } = await pooler('pool_mode=transaction')
    await expect(openOn(serverOf(url), freshSchema())).rejects.toMatchObject({
      code: 'store-pooler',
      message: expect.stringContaining('a pooler stands before'),
    })
    const lines = await checkDatabase({ url, schema: freshSchema() })
    expect(lines).toEqual([
      expect.objectContaining({ level: 'fail', hint: expect.stringContaining('store.url') }),
    ])
  })

  test('a pooler that appears while a sidecar runs makes its store unreachable until the pooler is gone', async () => {
    const between = await pooler('pool_mode=transaction', IGNORING)
    await using relay = await Relay.start(cluster)
    const store = await openOn(serverOf(relay.url), freshSchema())
    const said: string[] = []
    store.onReachability((now) => said.push(now))
    await put(store, 'a', 'b')
    relay.leadTo(between)
    const refused = { code: 'postern_store_unwritable' }
    await expect(store.fresh()).rejects.toMatchObject(refused)
    await expect(put(store, 'a', 'c')).rejects.toMatchObject(refused)
    expect(said).toEqual(['unreachable'])
    relay.leadTo(cluster)
    await store.fresh()
    expect(said).toEqual(['unreachable', 'reachable'])
  })

  test('a pooler that new connections lead to is refused by each new connection', async () => {
    const between = await pooler('pool_mode=transaction', IGNORING)
    await using relay = await Relay.start(cluster)
    const store = await openOn(serverOf(relay.url), freshSchema())
    relay.leadNewTo(between)
    const ways = await Promise.all(
      Array.from({ length: 8 }, () =>
        store
          .read(async (db) => await sql`SELECT pg_sleep(0.3)`.execute(db))
          .then(
            () => 'answered',
            ({ code }) => code as string,
          ),
      ),
    )
    expect(new Set(ways)).toEqual(new Set(['answered', 'postern_store_unwritable']))
  })
})
