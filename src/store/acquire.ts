import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { claimForBot, refuseOtherBot, type BotPlace, moved } from './flags.ts'
import { chooseProtection, openExisting, protect } from './choose.ts'
import type { ProtectionRequest } from './choose.ts'
import { createDatabase, settle } from './create.ts'
import { checkDataDir, checkFile, makeDataDir } from './data-dir.ts'
import { kyselyOf, connectExclusive, pragma } from './sqlite.ts'
import { errnoOf } from './files.ts'
import { DATABASE, explain, inspect, readProtection, whatIsThere } from './inspect.ts'
import type { FileState } from './inspect.ts'
import { migrate } from './migrate.ts'
import { claim, inUse, release } from './owner.ts'
import { isSameProtection, type OpenProtection, type NewProtection } from './protection.ts'
import { missing, unwritable } from './refusals.ts'

/** Where the store is, whether it may be made, and which protection is asked for. */
export interface Opening extends ProtectionRequest {
  dataDir: string
  /**
   * `create`: creates a store where there never was one, and claims it for the bot; `claim`: claims
   * an existing one; `existing`: reads it without claiming.
   */
  mode: 'create' | 'claim' | 'existing'
  /** A store that was moved away is opened too: for the move alone, which goes on. */
  isMoving?: boolean
  /** Whose store it must be, by the token; null or absent where that is not known. */
  botId?: number | null
}

/**
 * Opens a store: every check that needs no write precedes the first write. See `openStore` for the
 * parameters and errors.
 * @returns the database, which is ours until it is closed; `held` null when the store has no
 *   protection and none was asked for
 */
export async function acquire(o: Opening) {
  try {
    const isNew = !isThere(o)
    const chosen = isNew ? await chooseProtection(o) : null
    ensureThere(o.dataDir, isNew)
    const state = inspect(o.dataDir)
    if (state.mark !== null && o.isMoving !== true) throw moved(state.mark, o.dataDir)
    refuseOtherBot([state.botId, o.botId ?? null], placeOf(o))
    const known = state.protection === null ? null : await openExisting(state.protection, o)
    const wanted = known === null && !isNew ? await chooseProtection(o) : chosen
    return await hold(o, { state, known, wanted })
  } catch (error) {
    const errno = errnoOf(error)
    throw errno === null ? explain(error, o.dataDir) : unwritable(o.dataDir, errno, error)
  }
}

/** False when there never was a store and one may be made. */
function isThere({ dataDir, mode }: Opening): boolean {
  const found = checkDataDir(dataDir) ? whatIsThere(dataDir) : 'none'
  if (found === 'database') return true
  if (mode !== 'create' || found === 'traces') throw missing(dataDir, found)
  return false
}

function ensureThere(dataDir: string, isNew: boolean): void {
  if (isNew) {
    makeDataDir(dataDir)
    createDatabase(dataDir)
  }
  for (const suffix of ['', '-wal', '-shm']) {
    const file = join(dataDir, `${DATABASE}${suffix}`)
    if (existsSync(file)) checkFile(file)
  }
}

async function hold(
  o: Opening,
  found: { state: FileState; known: OpenProtection | null; wanted: NewProtection | null },
) {
  const { dataDir } = o
  const { state, known, wanted } = found
  const file = join(dataDir, DATABASE)
  const database = connectExclusive(file)
  try {
    const isUnchanged =
      pragma(database, 'user_version') === state.version &&
      isSameProtection(readProtection(database), state.protection)
    if (!isUnchanged) throw inUse(dataDir)
    claim(dataDir)
    // left by the inspection; with the lock held no process uses it
    rmSync(`${file}-shm`, { force: true })
    migrate(database, file)
    settle(dataDir)
    const db = kyselyOf(database)
    // `existing` only reads, and leaves a store without a bot unclaimed
    if (o.mode !== 'existing') await claimForBot(db, o.botId ?? null, placeOf(o))
    return { database, held: wanted === null ? known : await protect(db, wanted, o) }
  } catch (error) {
    release(dataDir)
    database.close()
    throw error
  }
}

const placeOf = ({ dataDir }: Opening): BotPlace => ({ name: dataDir, setting: 'dataDir' })
