import { closeSync, existsSync, fstatSync, fsyncSync, openSync, writeSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'

const BLOCK = Buffer.alloc(65_536)

/**
 * Overwrites the write-ahead log of a database that is ours alone, after all that is in it was
 * brought into the database: former versions of its pages stand there until then. A crash at any
 * point leaves a log that is either whole or not taken for one, and needed no more.
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
