import { closeSync, openSync, readFileSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { z } from 'zod'
import { OperatorError, resultOr } from '../errors.ts'
import { FILE_MODE, writeDurably } from './files.ts'
import { isBusy } from './sqlite.ts'

/** The process that holds a store. For people only: the lock is SQLite's; a pid proves nothing. */
const Owner = z.object({
  pid: z.int(),
  host: z.string().regex(/^[\w.:-]{1,255}$/),
  /** ISO 8601, UTC. */
  startedAt: z.string().regex(/^[\d:.TZ-]{20,24}$/),
})
type Owner = z.output<typeof Owner>

const FILE = 'owner.json'
const MAX_BYTES = 4096

/**
 * Writes our name. Call while holding the lock. Where the disk is full, the last owner's name is
 * removed all the same: better no name than a false one.
 */
export function claim(dataDir: string): void {
  const file = join(dataDir, FILE)
  const owner: Owner = { pid: process.pid, host: hostname(), startedAt: new Date().toISOString() }
  try {
    writeDurably(file, `${JSON.stringify(owner)}\n`)
  } catch {
    rmSync(file, { force: true })
  }
}

/** Removes our name. */
export function release(dataDir: string): void {
  rmSync(join(dataDir, FILE), { force: true })
}

/** The holder's record, or null when that is missing or malformed. */
export function readOwner(dataDir: string): Owner | null {
  const text = (): string => readFileSync(join(dataDir, FILE), 'utf8').slice(0, MAX_BYTES)
  const found: unknown = resultOr(() => JSON.parse(text()), null)
  return Owner.safeParse(found).data ?? null
}

/** The refusal of a data directory that another process holds. */
export function inUse(dataDir: string): OperatorError {
  const owner = readOwner(dataDir)
  const holder =
    owner === null
      ? 'another process'
      : `process ${owner.pid} on ${owner.host}, running since ${owner.startedAt}`
  return new OperatorError(
    'store-in-use',
    `${dataDir} is in use by ${holder}`,
    'if it is a sidecar that is only just starting, try again in a moment; else stop that process ' +
      'first, or give this one a `dataDir` of its own',
  )
}

const LOCK_FILE = 'sidecar.lock'

/**
 * Keeps other sidecars out of a data directory whose store is elsewhere: its socket and its spool
 * are of one process. The lock is SQLite's, on an empty file, and ends with the process.
 * @throws OperatorError `store-in-use`; an error of node:fs or node:sqlite
 */
export function lockDataDir(dataDir: string): Disposable {
  const file = join(dataDir, LOCK_FILE)
  closeSync(openSync(file, 'a', FILE_MODE))
  const lock = new DatabaseSync(file)
  try {
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    throw isBusy(error) ? inUse(dataDir) : error
  }
  claim(dataDir)
  return {
    [Symbol.dispose]: () => {
      release(dataDir)
      lock.close()
    },
  }
}
