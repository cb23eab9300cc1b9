import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { Kysely, sql } from 'kysely'
import { Migrator, type Migration } from 'kysely/migration'
import { NodeSqliteDialect } from './dialect.ts'
import { createEmpty, syncDirectory } from './files.ts'
import type { SchemaStep } from './migrations.ts'
import { pragma } from './sqlite.ts'

/**
 * Brings a database to the newest schema, all steps or none; `PRAGMA user_version` ends as the
 * number of steps. Before an existing store is changed, a copy of it is left beside it as
 * `postern.v<version>.<time>.db`, which stays until the operator removes it.
 * @param file where `database` lies
 * @returns the copy's path, or null when none was needed
 * @throws whatever a step or the disk throws; the database is then as it was
 */
export async function migrate(
  database: DatabaseSync,
  file: string,
  steps: readonly SchemaStep[],
): Promise<string | null> {
  const version = pragma(database, 'user_version')
  if (version >= steps.length) return null
  const copy = version === 0 ? null : keepCopy(database, file, version)
  const provider = { getMigrations: () => Promise.resolve(asMigrations(steps)) }
  const db = new Kysely<unknown>({ dialect: new NodeSqliteDialect(database) })
  const { error } = await new Migrator({ db, provider }).migrateToLatest()
  if (error !== undefined) throw error
  return copy
}

/** The version changes in the same transaction as the tables. */
function asMigrations(steps: readonly SchemaStep[]): Record<string, Migration> {
  return Object.fromEntries(
    steps.map((step, index) => [
      step.name,
      {
        async up(db: Kysely<unknown>) {
          await step.up(db)
          await sql.raw(`PRAGMA user_version = ${index + 1}`).execute(db)
        },
      },
    ]),
  )
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
