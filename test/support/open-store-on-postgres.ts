/**
 * Stands for `src/store/open-store.ts` in tests that run against PostgreSQL too: the store of a data
 * directory is in a schema of its own there.
 */
import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { openStore as openAnywhere, type StoreOpening } from '../../src/store/open-store.ts'
import { PostgresServer } from '../../src/store/postgres/server.ts'
import type { Store } from '../../src/store/store.ts'
import { sharedCluster } from './postgres.ts'

let server: Promise<PostgresServer> | null = null

/** Ends every connection that was made. */
export async function closeServer(): Promise<void> {
  await (await server)?.[Symbol.asyncDispose]()
  server = null
}

export async function openStore(o: StoreOpening): Promise<Store> {
  server ??= sharedCluster().then(({ url }) => new PostgresServer({ url }))
  const schema = `t_${createHash('sha256').update(resolve(o.dataDir)).digest('hex').slice(0, 24)}`
  return await openAnywhere({ database: { server: await server, schema }, ...o })
}
