import { closeSync, existsSync, fstatSync, fsyncSync, openSync, writeSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { Kysely } from 'kysely'
import { insertNew, readFlag, writeFlag } from './records/rows.ts'
import type { Schema } from './schema.ts'
import type { Store } from './store.ts'

/** Flag: something was locked anew, and the log has not been scrubbed since. */
const DUE = 'scrub_due'

/** Notes, in the transaction that replaces secrets, that their former versions must be scrubbed. */
export async function noteScrub(db: Kysely<Schema>): Promise<void> {
  await insertNew(db, 'flags', { name: DUE, value: '1' })
}

/** Scrubs when a process died between such a transaction and the end of its scrubbing. */
export async function scrubIfDue(store: Pick<Store, 'scrub' | 'read' | 'write'>): Promise<void> {
  if ((await store.read((db) => readFlag(db, DUE))) !== null) await scrubDue(store)
}

/**
 * Scrubs, and removes the note. After a failure the next start scrubs.
 * @returns whether it worked
 */
export async function scrubDue(store: Pick<Store, 'scrub' | 'write'>): Promise<boolean> {
  try {
    await store.scrub()
    await store.write((db) => writeFlag(db, DUE, null))
    return true
  } catch {
    return false
  }
}

const BLOCK = Buffer.alloc(65_536)

/**
 * Brings the write-ahead log of a database that is ours alone into the database and overwrites it:
 * it holds former versions of pages. A crash at any point leaves a log that is either whole, or
 * ignored and no longer needed.
 * @param file where the database lies
 * @throws an error of node:fs or node:sqlite
 */
export function scrubLog(database: DatabaseSync, file: string): void {
  const { busy } = database.prepare('PRAGMA wal_checkpoint(RESTART)').get() ?? {}
  const log = `${file}-wal`
  if (busy !== 0 || !existsSync(log)) return
  const fd = openSync(log, 'r+')
  try {
    const { size } = fstatSync(fd)
    for (let at = 0; at < size;) {
      at += writeSync(fd, BLOCK, 0, Math.min(BLOCK.length, size - at), at)
    }
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
}
