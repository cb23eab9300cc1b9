/** Every step of the schema of a file; `postgres/steps.ts` derives those of PostgreSQL from them. */
import { TABLES } from './tables.ts'

/** One step of the schema of a file. Never changed once released. */
export interface SchemaStep {
  /** The version of a store after it (`PRAGMA user_version`). */
  version: number
  statements: readonly string[]
}

/** The version of the stores of Postern 0.1.0. */
export const FIRST_VERSION = 20

const FIRST_INDEXES = [
  `CREATE UNIQUE INDEX own_keys_once ON own_keys (state) WHERE state IN ('pending', 'active')`,
  `CREATE INDEX seen_by_time ON seen (seen_at)`,
  `CREATE INDEX seen_counted_anew ON seen (update_id) WHERE counted_anew = 1`,
  `CREATE INDEX media_by_time ON media (named_at)`,
  `CREATE INDEX outcomes_by_update ON outcomes (update_id)`,
  `CREATE INDEX outcomes_by_time ON outcomes (at)`,
  `CREATE INDEX sent_by_time ON sent (at)`,
  `CREATE INDEX journal_first ON journal (user_id) WHERE place = 1`,
]

/** Tables that are ordered by their key, with the key where it has several columns. */
const WITHOUT_ROW_ID: Readonly<Record<string, readonly string[]>> = {
  seen: [],
  encryption_keys: ['PRIMARY KEY (key_id, user_id)'],
  media: ['PRIMARY KEY (id, chat_id, sender)'],
  presses: ['PRIMARY KEY (id, chat_id)'],
}

const createTables = (): string[] =>
  Object.entries(TABLES).map(([table, columns]) => {
    const declared = Object.entries(columns).map(([column, type]) => `${column} ${type}`)
    const key = WITHOUT_ROW_ID[table]
    const lines = [...declared, ...(key ?? [])].join(',\n')
    return `CREATE TABLE ${table} (\n${lines}\n) STRICT${key === undefined ? '' : ', WITHOUT ROWID'}`
  })

/** Every step; each raises the version by one. */
export const MIGRATIONS: readonly SchemaStep[] = [[...createTables(), ...FIRST_INDEXES]].map(
  (statements, step) => ({ version: FIRST_VERSION + step, statements }),
)

export const NEWEST_VERSION = MIGRATIONS.at(-1)?.version ?? FIRST_VERSION
