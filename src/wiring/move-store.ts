/** Moving a store elsewhere: what needs both places and OpenPGP, and no sidecar. */
import type { StoreAccess } from '../config/store-access.ts'
import type { SecretSource } from '../config/secrets.ts'
import { OperatorError } from '../errors.ts'
import { createEngine } from '../openpgp/index.ts'
import { relocate, type MoveEnd } from '../replicas/move-store.ts'
import { connectDatabase } from './core.ts'

/** What was moved, and whereto. */
export interface MoveReport {
  from: string
  to: string
  /** Rows of each table; null when all had arrived before, and only the end was left to do. */
  rows: Record<string, number> | null
  /** Secret keys, each of which was opened where it is now. */
  keys: number
}

/**
 * Moves the store of the settings into a database, or into a folder.
 * @param to a URL, or the absolute path of a data directory
 * @throws OperatorError as `relocate` does
 */
export async function moveStore(
  to: SecretSource | string,
  access: StoreAccess,
): Promise<MoveReport> {
  const { FileMoveEnd } = await import('../replicas/move-ends.ts')
  await using stack = new AsyncDisposableStack()
  const passphrase = access.passphrase?.reveal() ?? null
  const source =
    access.storeUrl === null
      ? await FileMoveEnd.source(access.dataDir, { passphrase })
      : await databaseEnd(access.storeUrl, access, stack)
  stack.use(source)
  const target =
    typeof to === 'string' ? FileMoveEnd.target(to) : await databaseEnd(to, access, stack)
  stack.use(target)
  const engine = stack.use(createEngine({ threads: 1 }))
  const { tables, keys } = await relocate({
    from: source,
    to: target,
    request: { passphrase },
    tryKey: async ({ fingerprint, locked }, masterSecret) => {
      const unlocked = await engine.unlock(locked, masterSecret).catch(() => null)
      if (unlocked?.fingerprint !== fingerprint) throw doesNotOpen(fingerprint)
    },
  })
  const counts = Object.entries(tables ?? {}).map(([table, { rows }]) => [table, rows] as const)
  return {
    from: source.place,
    to: target.place,
    rows: tables === null ? null : Object.fromEntries(counts),
    keys,
  }
}

async function databaseEnd(
  url: SecretSource,
  { store, dataDir }: StoreAccess,
  stack: AsyncDisposableStack,
): Promise<MoveEnd> {
  const { LastSeenTimeline } = await import('../replicas/timeline.ts')
  const { SchemaMoveEnd } = await import('../replicas/move-ends.ts')
  const server = stack.use(await connectDatabase(url, { caFile: store.caFile }))
  const end = await SchemaMoveEnd.take(server, store.schema)
  // what was seen there was another store
  LastSeenTimeline.forget(dataDir)
  return end
}

function doesNotOpen(fingerprint: string): OperatorError {
  return new OperatorError(
    'store-corrupt',
    `the secret key ${fingerprint} does not open where it was moved to`,
    'nothing was given up: the store is where it was, and still opens there',
  )
}
