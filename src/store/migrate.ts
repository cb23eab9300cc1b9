import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { createEmpty, syncDirectory } from './files.ts'
import { MIGRATIONS, type SchemaStep } from './migrations.ts'
import { pragma } from './sqlite.ts'

/**
 * Brings a database to the newest schema, all steps or none. Before an existing store is changed, a
 * copy of it is left beside it as `postern.v<version>.<time>.db`, which stays until the operator
 * removes it.
 * @param file where `database` lies
 * @returns the copy's path, or null when none was needed
 * @throws an error of a step or of node:sqlite; the database is then as it was
 */
export function migrate(
  database: DatabaseSync,
  file: string,
  steps: readonly SchemaStep[] = MIGRATIONS,
): string | null {
  const found = pragma(database, 'user_version')
  const missing = steps.filter(({ version }) => version > found)
  if (missing.length === 0) return null
  const copy = found === 0 ? null : keepCopy(database, file, found)
  database.exec('BEGIN IMMEDIATE')
  try {
    for (const { version, statements } of missing) {
      for (const statement of statements) database.exec(statement)
      // in the same transaction as the tables
      database.exec(`PRAGMA user_version = ${version}`)
    }
    database.exec('COMMIT')
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
  return copy
}

function keepCopy(database: DatabaseSync, file: string, version: number): string {
  const time = new Date().toISOString().replaceAll(/[:.-]/g, '')
  const copy = join(dirname(file), `postern.v${version}.${time}.db`)
  createEmpty(copy)
  try {
    database.prepare('VACUUM INTO ?').run(copy)
  } catch (error) {
    rmSync(copy, { force: true })
    throw error
  }
  syncDirectory(dirname(file))
  return copy
}
