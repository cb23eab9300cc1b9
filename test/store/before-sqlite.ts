/** Comes between a test and SQLite. */
import { DatabaseSync } from 'node:sqlite'
import { vi } from 'vitest'

/**
 * Calls `before` with the statement whenever any connection prepares or executes one. What it
 * throws, SQLite seems to have thrown. It ends with `vi.restoreAllMocks`.
 */
export function beforeSqlite(name: 'prepare' | 'exec', before: (statement: string) => void): void {
  const real = Reflect.get(DatabaseSync.prototype, name) as (statement: string) => never
  vi.spyOn(DatabaseSync.prototype, name).mockImplementation(function (
    this: DatabaseSync,
    statement: string,
  ) {
    before(statement)
    return real.call(this, statement)
  })
}
