import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { OperatorError } from '../../errors.ts'
import { chooseProtection, openExisting, protect } from '../choose.ts'
import type { Opening } from '../acquire.ts'
import { clearUnfinished } from '../create.ts'
import { makeDataDir } from '../data-dir.ts'
import { errnoOf } from '../files.ts'
import { DATABASE, readMarkOf } from '../inspect.ts'
import { moved, readMark, claimForBot, readBot, refuseOtherBot, type BotPlace } from '../flags.ts'
import type { NewProtection, OpenProtection } from '../protection.ts'
import { corrupt, unwritable } from '../refusals.ts'
import type { Store } from '../store.ts'
import { describeAddress, describePlace } from './address.ts'
import { kindOf, rolledBack, toOperator } from './failures.ts'
import { lockDataDir } from '../owner.ts'
import { readEpoch } from './epoch-reader.ts'
import { databaseOf, findVersion, isNewest, migrate } from './migrate.ts'
import { PostgresStore } from './postgres-store.ts'
import { Presence } from './open-lock.ts'
import { checkSchemaName, IS_READ_ONLY, type Database } from './schema.ts'
import { LastSeenTimeline } from './timeline.ts'
import type { PostgresServer } from './server.ts'

/** The schema of a store when none is named. */
export const SCHEMA = 'postern'

/** As for a file; `dataDir` is for files of this process alone. */
export interface DatabaseOpening extends Omit<Opening, 'isMoving'> {
  /** Disposed of by the caller, after the store. */
  server: PostgresServer
  /** `SCHEMA` when not given; each bot has its own. */
  schema?: string
}

/**
 * Opens a store in a schema of PostgreSQL, together with others that have it open. All that can be
 * refused is refused before anything is made.
 * @throws OperatorError `data-dir`, `settings`, `protection`, `keychain`, `store-unreachable`,
 *   `store-rolled-back`, `store-login`, `store-tls`, `store-no-database`, `store-pooler`, `store-missing`,
 *   `store-rights`, `store-read-only`, `store-newer`, `store-moved`, `store-other-bot`,
 *   `store-in-use`, `store-locked`, `store-passphrase`, `store-corrupt`, `store-unwritable`, each with
 *   a hint
 */
export async function openDatabaseStore(o: DatabaseOpening): Promise<Store> {
  const { server, dataDir, schema = SCHEMA, botId = null } = o
  const place = describePlace(server.address, schema)
  const botPlace: BotPlace = { name: place, setting: 'store.schema' }
  await using stack = new AsyncDisposableStack()
  try {
    checkSchemaName(schema)
    await server.ask(`SELECT ${IS_READ_ONLY}`)
    const db = databaseOf(server, schema)
    const version = await findVersion(db, schema)
    const isNew = version === null
    const lastSeen = new LastSeenTimeline(dataDir, place)
    if (isNew && lastSeen.isAheadOf(null)) throw rolledBack()
    if (isNew) refuseToMake(o)
    else refuseOtherBot([await readBot(db), botId], botPlace)
    const chosen = isNew ? await chooseProtection(o) : null
    makeDataDir(dataDir)
    stack.use(lockDataDir(dataDir))
    clearUnfinished(dataDir)
    if (!isNewest(version)) await migrate(server, schema)
    const presence = stack.use(new Presence(server, schema))
    await presence.ensure()
    const epoch = await readEpoch(server, schema)
    const { timeline } = server
    if (lastSeen.isAheadOf({ epoch, timeline })) throw rolledBack()
    // `existing` only reads, and leaves a store without a bot unclaimed
    if (o.mode !== 'existing') await claimForBot(db, botId, botPlace)
    lastSeen.note({ epoch, timeline })
    stack.use(lastSeen)
    const held = await openProtectionOf(o, db, { isNew, chosen })
    const parts = { server, schema, dataDir, held, request: o, presence, lastSeen, epoch }
    return new PostgresStore({ ...parts, resources: stack.move() })
  } catch (error) {
    if (error instanceof OperatorError) throw error
    if (kindOf(error) !== 'mistake') throw toOperator(error, server.address)
    const errno = errnoOf(error)
    throw errno === null ? error : unwritable(dataDir, errno, error)
  }
}

/** Where none may be made, or where the one of before was not brought over. */
function refuseToMake({ mode, dataDir, server }: DatabaseOpening): void {
  const file = join(dataDir, DATABASE)
  if (existsSync(file) && readMarkOf(dataDir) === null) {
    throw new OperatorError(
      'store-missing',
      `the database ${describeAddress(server.address)} holds no store, and ${dataDir} holds one`,
      'bring that one over: run `postern store move` with this URL, and without store.url in the ' +
        'settings; or move its postern.db away to begin anew, with another key',
    )
  }
  if (mode === 'create') return
  throw new OperatorError(
    'store-missing',
    `the database ${describeAddress(server.address)} holds no store`,
    'check store.url; the first `postern run` makes the store',
  )
}

async function openProtectionOf(
  o: DatabaseOpening,
  db: Database,
  { isNew, chosen }: { isNew: boolean; chosen: NewProtection | null },
): Promise<OpenProtection | null> {
  const mark = await readMark(db)
  if (mark !== null) throw moved(mark, describeAddress(o.server.address))
  const row = await db.selectFrom('protection').selectAll().where('id', '=', 1).executeTakeFirst()
  if (row !== undefined) return await openExisting(row, o)
  const secret =
    (await db.selectFrom('secrets').select('name').limit(1).executeTakeFirst()) ??
    (await db.selectFrom('own_keys').select('fingerprint').limit(1).executeTakeFirst())
  if (secret !== undefined) throw corrupt('the record of its protection is gone')
  const wanted = isNew ? chosen : await chooseProtection(o)
  return wanted === null ? null : await protect(db, wanted, o)
}
