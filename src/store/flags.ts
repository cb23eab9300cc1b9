/** The flags about a store itself: its bot, the marks of a move, and the note of a restored copy. */
import type { DatabaseSync } from 'node:sqlite'
import type { Kysely } from 'kysely'
import { OperatorError } from '../errors.ts'
import type { Gap } from '../kernel/index.ts'
import { ConfirmedRows } from './records/confirmed.ts'
import { findRows, flagIn, insertNew, readFlag, writeFlag } from './records/rows.ts'
import type { Schema } from './schema.ts'
import type { Store } from './store.ts'

/**
 * The id of the store's bot, which the first sidecar that runs on it writes. A store is of one bot
 * for as long as it lives, so that no bot gets the keys, people and latches of another by a folder or
 * schema that both were given.
 */
const BOT = 'bot_id'

/** The bot of an open or inspected store; null when none has run on it yet. */
export const botIn = (database: DatabaseSync): number | null => idOf(flagIn(database, BOT))

/** The same of a store in a database. */
export const readBot = async (db: Kysely<Schema>): Promise<number | null> =>
  idOf(await readFlag(db, BOT))

const idOf = (flag: string | null): number | null => (flag === null ? null : Number(flag))

/** Where a store is, for people, and the setting that each bot has its own of. */
export interface BotPlace {
  name: string
  setting: 'dataDir' | 'store.schema'
}

/**
 * Claims a store for a bot, unless it belongs to one; of two concurrent bots, one gets it.
 * @param botId null when the token contains no bot id: the store is not claimed
 * @throws OperatorError `store-other-bot`
 */
export async function claimForBot(
  db: Kysely<Schema>,
  botId: number | null,
  place: BotPlace,
): Promise<void> {
  if (botId === null || (await readBot(db)) === botId) return
  await insertNew(db, 'flags', { name: BOT, value: String(botId) })
  refuseOtherBot([await readBot(db), botId], place)
}

/**
 * @param found the bot of the store; null when it belongs to none yet
 * @param wanted the bot of the token; null when the token contains no bot id
 * @throws OperatorError `store-other-bot`
 */
export function refuseOtherBot(
  [found, wanted]: [found: number | null, wanted: number | null],
  place: BotPlace,
): void {
  if (found === null || wanted === null || found === wanted) return
  throw new OperatorError(
    'store-other-bot',
    `the store in ${place.name} is of bot ${found}, and the token is of bot ${wanted}`,
    `give this bot a ${place.setting} of its own, or the token of the bot whose store it is`,
  )
}

/**
 * The marks that a move leaves in both stores (`postern store move`): `arriving` in the one that is
 * being filled, `moved_to` in the one that is left. A store with either does not open, so that two
 * stores of one bot never run.
 */
export const ARRIVING = 'arriving'
export const MOVED_TO = 'moved_to'

/** The mark of a store that is moved. */
export interface MoveMark {
  flag: typeof ARRIVING | typeof MOVED_TO
  /** The same in both stores of one move. */
  id: string
  /** The other store, for people. */
  place: string
  /** ISO 8601, UTC. */
  at: string
}

/** The mark of a store; null when it has none, as is usual. */
export async function readMark(db: Kysely<Schema>): Promise<MoveMark | null> {
  const [row] = await findRows(db, 'flags', { name: [ARRIVING, MOVED_TO] })
  return row === undefined ? null : parseMark(row)
}

/** A mark as it rests in the table of flags. */
export function parseMark({ name, value }: { name: string; value: string }): MoveMark {
  const { id, place, at } = JSON.parse(value) as Omit<MoveMark, 'flag'>
  return { flag: name === ARRIVING ? ARRIVING : MOVED_TO, id, place, at }
}

/** Writes the mark of a store in a transaction of the caller's, or removes it. */
export async function setMark(db: Kysely<Schema>, mark: MoveMark | null): Promise<void> {
  await db.deleteFrom('flags').where('name', 'in', [ARRIVING, MOVED_TO]).execute()
  if (mark === null) return
  const { flag, ...rest } = mark
  await writeFlag(db, flag, JSON.stringify(rest))
}

/** The refusal to open a store that has a mark. @param place where it is, for people */
export const moved = ({ flag, place: other, at }: MoveMark, place: string): OperatorError =>
  flag === ARRIVING
    ? new OperatorError(
        'store-moved',
        `a move from ${other} into ${place}, begun ${at}, has not ended`,
        'run the same `postern store move` again: it goes on where it stopped',
      )
    : new OperatorError(
        'store-moved',
        `the store was moved from ${place} to ${other} on ${at}`,
        'use it there: `store.url` names a database, without it `dataDir` counts; or move it back ' +
          'with `postern store move`',
      )

/**
 * The note that a copy of a store carries: the time of the copy (ISO 8601). A store with it was
 * restored, and lacks all changes after the copy.
 */
const NOTE = 'backup_taken_at'
/** The gaps in the memory against replays. */
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
      if (highest !== null) await new ConfirmedRows(db, store.rowSeal).settle(highest + 1)
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
