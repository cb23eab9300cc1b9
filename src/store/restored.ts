/**
 * The note that a copy of a store carries. A store with it was restored, and lacks all changes
 * after the copy.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Kysely } from 'kysely'
import { OperatorError } from '../errors.ts'
import { ConfirmedRows } from './records/seen.ts'
import { flagIn, readFlag, writeFlag } from './records/rows.ts'
import type { Gap } from '../kernel/index.ts'
import type { Schema } from './schema.ts'
import type { Store } from './store.ts'

/** Flags: the time of the copy (ISO 8601), and the gaps in the memory against replays. */
const NOTE = 'backup_taken_at'
const GAPS = 'memory_gaps'
/** A message signed this long before a copy may have arrived after it. */
const ON_THE_WAY_MS = 300_000

/** Writes the note into a copy; a copy of a copy keeps the time of the first. */
export function writeNote(copy: DatabaseSync, takenAt: string): void {
  copy
    .prepare('INSERT INTO flags (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING')
    .run(NOTE, takenAt)
}

/** The time at which a database was copied, ISO 8601; null when it is no copy. */
export const readNote = (database: DatabaseSync): string | null => flagIn(database, NOTE)

/**
 * The time of the backup that a store was restored from; null when it was not, or is accepted.
 */
export const restoredFrom = async (store: Store): Promise<string | null> =>
  await store.read((db) => readFlag(db, NOTE))

/**
 * Accepts a restored store: it counts from now on.
 * @param o `isLatest`: no sidecar ran after the backup, so that nothing is missing. Else signatures
 *   dated between the backup and now are unknown, and count as seen before, and all updates in it
 *   count as confirmed
 * @throws Refusal `postern_store_unwritable`
 */
export async function acceptRestored(store: Store, o: { isLatest: boolean }): Promise<void> {
  await store.write(async (db) => {
    const takenAt = await readFlag(db, NOTE)
    if (takenAt === null) return
    if (!o.isLatest) {
      const fromMs = Date.parse(takenAt) - ON_THE_WAY_MS
      const gaps = [...(await readGaps(db)), { fromMs, toMs: Date.now() }]
      await writeFlag(db, GAPS, JSON.stringify(gaps))
      const { highest } = await db
        .selectFrom('seen')
        .select(({ fn }) => fn.max<number | null>('update_id').as('highest'))
        .executeTakeFirstOrThrow()
      if (highest !== null) await new ConfirmedRows(db).settle(highest + 1)
    }
    await writeFlag(db, NOTE, null)
  })
}

/** The gaps in the memory against replays. */
export const memoryGaps = async (store: Store): Promise<Gap[]> => await store.read(readGaps)

/** The refusal to run on a store that was restored and not accepted. */
export const restored = (dataDir: string, takenAt: string): OperatorError =>
  new OperatorError(
    'store-restored',
    `the store in ${dataDir} was restored from a backup of ${takenAt}: keys, latches and the memory ` +
      'against replays may be older than what the service has seen since',
    '`postern backup accept` compares it with the service and lets it run; if a later backup is ' +
      'there, restore that one instead',
  )

async function readGaps(db: Kysely<Schema>): Promise<Gap[]> {
  const text = await readFlag(db, GAPS)
  return text === null ? [] : (JSON.parse(text) as Gap[])
}
