import { readFileSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { resultOr } from '../errors.ts'
import { writeDurably } from './files.ts'

/** The process that holds a store. For people only: the lock is SQLite's; a pid proves nothing. */
const Owner = z.object({
  pid: z.int(),
  host: z.string().regex(/^[\w.:-]{1,255}$/),
  /** ISO 8601, UTC. */
  startedAt: z.string().regex(/^[\d:.TZ-]{20,24}$/),
})
export type Owner = z.output<typeof Owner>

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
