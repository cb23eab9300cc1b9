/** Stores of several sidecars in one schema of the shared cluster. */
import { onTestFinished } from 'vitest'
import { openStore, type StoreOpening } from '../../src/store/open-store.ts'
import { PostgresServer } from '../../src/replicas/server.ts'
import type { Store } from '../../src/store/store.ts'
import { freshSchema, sharedCluster } from '../support/postgres.ts'
import { temporary } from '../store/support.ts'

/** A sidecar's connection to a database, which ends with the test. */
export function serverOf(url: string): PostgresServer {
  const server = new PostgresServer({ url })
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}

/** Opens a store as a sidecar of its own does; it is closed when the test ends. */
export async function openOn(
  server: PostgresServer,
  schema: string,
  o: Partial<StoreOpening> = {},
): Promise<Store> {
  const store = await openStore({
    dataDir: temporary(),
    mode: 'create',
    passphrase: null,
    database: { server, schema },
    ...o,
  })
  onTestFinished(() => store[Symbol.asyncDispose]())
  return store
}

/** As many sidecars as asked for, on a schema that is theirs. */
export async function sidecars(
  count: number,
  o: Partial<StoreOpening> = {},
): Promise<{ stores: Store[]; servers: PostgresServer[]; schema: string }> {
  const { url } = await sharedCluster()
  const schema = freshSchema()
  const servers = Array.from({ length: count }, () => serverOf(url))
  const stores: Store[] = []
  for (const server of servers) stores.push(await openOn(server, schema, o))
  return { stores, servers, schema }
}
