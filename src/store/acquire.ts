import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import { OperatorError } from '../errors.ts'
import { createDatabase, settle } from './create.ts'
import { checkDataDir, checkFile, makeDataDir } from './data-dir.ts'
import { NodeSqliteDialect } from './dialect.ts'
import { errnoOf } from './files.ts'
import { DATABASE, explain, inspect, readProtection, whatIsThere, type Seen } from './inspect.ts'
import { migrate } from './migrate.ts'
import { MIGRATIONS } from './migrations.ts'
import { claim, readOwner, release } from './owner.ts'
import { createProtection, openProtection, type Protection } from './protection.ts'
import { inUse, missing, noPassphrase, unwritable } from './refusals.ts'
import type { Schema } from './schema.ts'
import { connectExclusive, pragma } from './sqlite.ts'

/** A database that is ours until it is closed. */
export interface Acquired {
  database: DatabaseSync
  /** Null when neither the store nor the caller has a passphrase. */
  protection: Protection | null
}

/**
 * All of opening: everything that can be refused is refused while only looking, before the
 * database is opened for writing. See `openStore` for what it takes and throws.
 */
export async function acquire(o: {
  dataDir: string
  masterSecret: string | null
  mode: 'create' | 'existing'
}): Promise<Acquired> {
  try {
    await ensureThere(o.dataDir, o.mode)
    const seen = inspect(o.dataDir, MIGRATIONS.length)
    const known = await unlock(seen, o.masterSecret)
    return await hold(o, seen, known)
  } catch (error) {
    throw toOperator(error, o.dataDir)
  }
}

async function ensureThere(dataDir: string, mode: 'create' | 'existing'): Promise<void> {
  if (mode === 'create') makeDataDir(dataDir)
  else if (!checkDataDir(dataDir)) throw missing(dataDir, 'none')
  const found = whatIsThere(dataDir)
  if (found !== 'database') {
    if (mode === 'existing' || found === 'traces') throw missing(dataDir, found)
    await createDatabase(dataDir)
  }
  for (const suffix of ['', '-wal', '-shm']) {
    const file = join(dataDir, `${DATABASE}${suffix}`)
    if (existsSync(file)) checkFile(file)
  }
}

async function unlock(seen: Seen, masterSecret: string | null): Promise<Protection | null> {
  if (seen.protection === null) return null
  if (masterSecret === null) throw noPassphrase()
  return openProtection(masterSecret, seen.protection)
}

async function hold(
  { dataDir, masterSecret }: { dataDir: string; masterSecret: string | null },
  seen: Seen,
  known: Protection | null,
): Promise<Acquired> {
  const file = join(dataDir, DATABASE)
  const database = connectExclusive(file)
  try {
    if (!isStillAs(seen, database)) throw inUse(dataDir, readOwner(dataDir))
    claim(dataDir)
    // left by the look; with the lock held nobody shares memory through it
    rmSync(`${file}-shm`, { force: true })
    await migrate(database, file, MIGRATIONS)
    settle(dataDir)
    const protection =
      known ?? (masterSecret === null ? null : await protect(database, masterSecret))
    return { database, protection }
  } catch (error) {
    release(dataDir)
    database.close()
    throw error
  }
}

/** False when somebody was faster between the look and the lock. */
function isStillAs(seen: Seen, database: DatabaseSync): boolean {
  const protectedNow = readProtection(database) !== null
  return (
    pragma(database, 'user_version') === seen.version && protectedNow === (seen.protection !== null)
  )
}

async function protect(database: DatabaseSync, masterSecret: string): Promise<Protection> {
  const { protection, row } = await createProtection(masterSecret)
  const db = new Kysely<Schema>({ dialect: new NodeSqliteDialect(database) })
  await db.insertInto('protection').values(row).execute()
  return protection
}

function toOperator(error: unknown, dataDir: string): unknown {
  if (error instanceof OperatorError) return error
  const errno = errnoOf(error)
  return errno === null ? explain(error, dataDir) : unwritable(dataDir, errno, error)
}
