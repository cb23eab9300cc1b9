/** Stores of several sidecars in one schema of the shared cluster. */
import { expect, onTestFinished } from 'vitest'
import { openStore, type StoreOpening } from '../../../src/store/open-store.ts'
// else the first test that opens a store loads it, and `npm run mutants` cannot change its constants
import '../../../src/store/postgres/open.ts'
import { PostgresServer } from '../../../src/store/postgres/server.ts'
import type { Reachability, Store } from '../../../src/store/store.ts'
import type { Json } from '../../support/double-wire.ts'
import { freshSchema, sharedCluster } from '../../support/postgres.ts'
import { temporary } from '../support.ts'

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

/** A store, with what it reports: its reach, whether it can be written, and both in their order. */
export async function watched(url: string) {
  const schema = freshSchema()
  const store = await openOn(serverOf(url), schema)
  const reach: Reachability[] = []
  const writable: boolean[] = []
  const said: unknown[] = []
  store.onReachability((now) => {
    reach.push(now)
    said.push(now)
  })
  store.onWritable((isWritable) => {
    writable.push(isWritable)
    said.push(isWritable)
  })
  return { store, schema, reach, writable, said }
}

/** Status and code of what a sidecar refuses. */
export const refusalOf = ({ status, json }: { status: number; json: Json }): unknown[] => [
  status,
  json.error?.code,
]

export const untilFresh = (store: Store): Promise<void> =>
  expect.poll(() => store.fresh().then(() => 'fresh', String)).toBe('fresh')

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

/** Two sidecars on a schema that is theirs. */
export async function pair(o: Partial<StoreOpening> = {}) {
  const { stores, servers, schema } = await sidecars(2, o)
  const [one, two] = stores as [Store, Store]
  return { one, two, stores: [one, two] as const, servers, schema }
}
