/**
 * Opens a store by the settings, moves it elsewhere, and restores a backup of it. It loads what opens a
 * store alone, so that a start opens it first.
 */
import { botIdOf } from '../api/bot.ts'
import type { JudgingClock, Memory } from '../kernel/index.ts'
import { keyAccess } from '../config/key-commands.ts'
import type { StoreAccess } from '../config/store-access.ts'
import { OperatorError, refusedError } from '../errors.ts'
import { readBackup, refuseOccupied, restore } from '../store/backup.ts'
import { unsoundBackup } from '../store/refusals.ts'
import type { SecretSource } from '../config/secrets.ts'
import type { Engine } from '../openpgp/index.ts'
import { openStore, type StoreOpening } from '../store/open-store.ts'
import type { PostgresServer } from '../store/postgres/server.ts'
import { memoryGaps, restored, restoredFrom } from '../store/flags.ts'
import type { Store } from '../store/store.ts'
import type { BotOptions } from './link.ts'

/** The contents of a backup, without anything secret. */
export type BackupReport = Awaited<ReturnType<typeof verifyBackup>>

/**
 * Opens a backup, its protection, every sealed secret and every key in it; changes nothing.
 * @throws OperatorError `failed` when it is not sound; `store-newer`, `store-locked`,
 *   `store-passphrase`, `keychain`
 */
export async function verifyBackup(file: string, access: StoreAccess) {
  const { masterSecret, keys, ...backup } = await readBackup(file, access.key)
  const { takenAt, bytes, version, method, counts } = backup
  const { createEngine } = await import('../openpgp/index.ts')
  await using engine = createEngine({ threads: 1, engine: access.engine })
  for (const { fingerprint, locked } of keys) {
    if (locked === '') continue
    if ((await fingerprintOf(engine, locked, masterSecret)) !== fingerprint) {
      throw unsoundBackup(file, `the key ${fingerprint} in it does not open`)
    }
  }
  const shown = keys.map(({ fingerprint, state }) => ({ fingerprint, state }))
  return { takenAt, bytes, version, method, counts, keys: shown }
}

/**
 * Verifies a backup and puts it into `dataDir`, which must hold no store.
 * @throws OperatorError `refused` when it holds one, or when the store is in a database; and errors
 *   of `verifyBackup`
 */
export async function restoreBackup(file: string, access: StoreAccess): Promise<BackupReport> {
  if (access.storeUrl !== null) {
    throw refusedError(
      'a backup is restored into a data directory, and store.url names a database',
      'restore it without store.url, and bring it into the database with `postern store move`',
    )
  }
  refuseOccupied(access.dataDir)
  const report = await verifyBackup(file, access)
  restore(file, access.dataDir)
  return report
}

/** The result of a move: both places, and its rows. */
export type MoveReport = Awaited<ReturnType<typeof moveStore>>

/**
 * Moves the store of the settings into a database, or into a folder.
 * @param to a URL, or the absolute path of a data directory
 * @throws OperatorError as `relocate` does
 */
export async function moveStore(to: SecretSource | string, access: StoreAccess) {
  const { fileSource, fileTarget } = await import('../store/postgres/move-ends.ts')
  await using stack = new AsyncDisposableStack()
  const source =
    access.storeUrl === null
      ? await fileSource(access.dataDir, access.key)
      : await databaseEnd(access.storeUrl, access, stack)
  stack.use(source)
  const target = typeof to === 'string' ? fileTarget(to) : await databaseEnd(to, access, stack)
  stack.use(target)
  const { createEngine } = await import('../openpgp/index.ts')
  const { relocate } = await import('../store/postgres/move-store.ts')
  const engine = stack.use(createEngine({ threads: 1, engine: access.engine }))
  const { tables, keys } = await relocate({
    from: source,
    to: target,
    request: access.key,
    tryKey: async ({ fingerprint, locked }, masterSecret) => {
      const found = await fingerprintOf(engine, locked, masterSecret)
      if (found === fingerprint) return
      throw new OperatorError(
        'store-corrupt',
        `the secret key ${fingerprint} does not open where it was moved to`,
        'nothing was given up: the store is where it was, and still opens there',
      )
    },
  })
  const counts = Object.entries(tables ?? {}).map(([table, { rows }]) => [table, rows] as const)
  return {
    from: source.place,
    to: target.place,
    /** Rows of each table; null when all had arrived before, and only the end was left to do. */
    rows: tables === null ? null : Object.fromEntries(counts),
    /** Secret keys, each of which was opened where it is now. */
    keys,
  }
}

/** The key that opens, or the one that an agent has; null where none does. */
async function fingerprintOf(engine: Engine, locked: string, masterSecret: string | null) {
  const { isHeld } = await import('../openpgp/index.ts')
  if (isHeld(locked)) return (await engine.judge(locked)).fingerprint
  const unlocked = await engine.unlock(locked, masterSecret ?? '').catch(() => null)
  return unlocked?.fingerprint ?? null
}

async function databaseEnd(url: SecretSource, access: StoreAccess, stack: AsyncDisposableStack) {
  const { store, dataDir } = access
  const { LastSeenTimeline } = await import('../store/postgres/timeline.ts')
  const { takeSchema } = await import('../store/postgres/move-ends.ts')
  const server = stack.use(await connectDatabase(url, { caFile: store.caFile }))
  const end = await takeSchema(server, store.schema)
  // the record is of another store in that place
  LastSeenTimeline.forget(dataDir)
  return end
}

/**
 * The purpose of opening a store: to `run` the sidecar, which needs all of the settings; to
 * `begin` with a first key, which may create the store; or to `look` at an existing one.
 */
export type Purpose = 'run' | 'begin' | 'look'

/** What a bot's store is opened by. */
type StoreSettings = Pick<BotOptions, 'settings' | 'secrets' | 'parts'>

/** The database that the store is in; null where it is in a folder. */
export async function serverFor(
  { settings, secrets, parts = {} }: StoreSettings,
  stack: AsyncDisposableStack,
): Promise<PostgresServer | null> {
  if (parts.store !== undefined) return null
  if (parts.database !== undefined) return parts.database
  if (secrets.storeUrl === undefined) return null
  return stack.use(await connectDatabase(secrets.storeUrl, settings.store))
}

/**
 * Loads the client of PostgreSQL, and makes no connection yet. The caller disposes of the server
 * after the stores.
 * @param o `isOfSeveral` the server holds the stores of several bots
 * @throws OperatorError `settings` when the URL is wrong
 */
export async function connectDatabase(
  url: SecretSource,
  { caFile, isOfSeveral = false }: { caFile?: string | undefined; isOfSeveral?: boolean },
): Promise<PostgresServer> {
  const { PostgresServer: Server } = await import('../store/postgres/server.ts')
  return new Server({ url: url.reveal(), caFile, isOfSeveral })
}

export async function openStoreFor(
  { purpose, mayCreateStore }: { purpose: Purpose; mayCreateStore: boolean },
  o: StoreSettings & { database: StoreOpening['database']; botId: number | null },
): Promise<Store> {
  const { settings, secrets, database } = o
  return await openStore({
    ...(database && { database }),
    dataDir: settings.dataDir,
    botId: o.botId,
    mode: purpose === 'look' ? 'existing' : mayCreateStore ? 'create' : 'claim',
    ...keyAccess(settings.key, secrets.passphrase),
    isRequired: settings.key.publish,
    isBinding: purpose === 'run',
    stretcher: o.parts?.stretcher,
    howToMakePassphrase: secrets.howToMakePassphrase,
  })
}

/**
 * Begins to open the store of a sidecar in a folder: its passphrase is stretched while the rest of the
 * sidecar is loaded.
 * @param stack disposes of the store
 * @returns undefined for a store in a database, or one that is handed in
 */
export function beginOpening(
  { settings, secrets, parts = {} }: StoreSettings,
  stack: AsyncDisposableStack,
): Promise<Store> | undefined {
  if (parts.store !== undefined || secrets.storeUrl !== undefined) return undefined
  const botId = botIdOf(secrets.botToken.reveal())
  const how = { purpose: 'run', mayCreateStore: true } as const
  const opening = openStoreFor(how, { settings, secrets, parts, database: undefined, botId })
  // the error is for `createCore`
  const opened = opening.catch(() => null)
  stack.defer(async () => await (await opened)?.[Symbol.asyncDispose]())
  return opening
}

/** @throws OperatorError `store-restored` until the operator has accepted a restored store */
export async function refuseRestored(store: Store, dataDir: string): Promise<void> {
  const takenAt = await restoredFrom(store)
  if (takenAt !== null) throw restored(dataDir, takenAt)
}

/** @throws Refusal `postern_locked` when the store has no protection */
export async function loadReplayMemory(store: Store, memory: Memory, clock: JudgingClock) {
  const [key, gaps] = [await store.secret('seen'), await memoryGaps(store)]
  const kernel = await import('../kernel/index.ts')
  return await kernel.ReplayMemory.load(memory, { key, gaps, clock })
}
