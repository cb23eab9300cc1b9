import { readFileSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { writeDurably } from './files.ts'

/** The process that holds a store. For people only: the lock is SQLite's; a pid proves nothing. */
export interface Owner {
  pid: number
  host: string
  /** ISO 8601, UTC. */
  startedAt: string
}

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
  try {
    const text = readFileSync(join(dataDir, FILE), 'utf8').slice(0, MAX_BYTES)
    const { pid, host, startedAt } = JSON.parse(text) as Partial<Owner>
    if (!Number.isSafeInteger(pid) || pid === undefined) return null
    if (typeof host !== 'string' || !/^[\w.:-]{1,255}$/.test(host)) return null
    if (typeof startedAt !== 'string' || !/^[\d:.TZ-]{20,24}$/.test(startedAt)) return null
    return { pid, host, startedAt }
  } catch {
    return null
  }
}
