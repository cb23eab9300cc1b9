import { randomUUID } from 'node:crypto'
import { existsSync, linkSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createEmpty, errnoOf, syncDirectory, writeDurably } from './files.ts'
import { DATABASE, MARKER } from './inspect.ts'
import { migrate } from './migrate.ts'
import { MIGRATIONS } from './migrations.ts'
import { unfit } from './refusals.ts'
import { APPLICATION_ID, connectExclusive } from './sqlite.ts'

const UNFINISHED = `${DATABASE}.new-`
const MARKER_FORMAT = 1

/**
 * Puts an empty database of the newest version in its place, whole: it is made under another name
 * and linked, so that neither a crash nor a second process can leave half of one, or replace one.
 * When another process was first, its database stays.
 * @throws an error of node:fs or node:sqlite; OperatorError `data-dir`
 */
export async function createDatabase(dataDir: string): Promise<void> {
  const unfinished = join(dataDir, `${UNFINISHED}${randomUUID()}`)
  createEmpty(unfinished)
  try {
    const database = connectExclusive(unfinished)
    try {
      database.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
      await migrate(database, unfinished, MIGRATIONS)
    } finally {
      database.close()
    }
    link(unfinished, join(dataDir, DATABASE))
  } finally {
    rmSync(unfinished, { force: true })
  }
  syncDirectory(dataDir)
}

/**
 * Writes the marker that says for good that a store is here, and clears away what creations that
 * died have left. Call while holding the database.
 */
export function settle(dataDir: string): void {
  const marker = join(dataDir, MARKER)
  if (!existsSync(marker)) {
    const content = {
      id: randomUUID(),
      createdAt: new Date().toISOString(),
      format: MARKER_FORMAT,
    }
    writeDurably(marker, `${JSON.stringify(content)}\n`)
  }
  for (const name of readdirSync(dataDir)) {
    if (name.startsWith(UNFINISHED)) rmSync(join(dataDir, name), { force: true })
  }
}

function link(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    const errno = errnoOf(error)
    if (existsSync(to)) return
    if (errno !== 'EPERM' && errno !== 'ENOTSUP' && errno !== 'ENOSYS') throw error
    throw unfit(
      'the file system of `dataDir` has no hard links',
      'put `dataDir` on a local file system',
    )
  }
}
