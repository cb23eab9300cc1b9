/**
 * The marks that a move leaves in both stores (`postern store move`), as flags: `arriving` in the
 * one that is being filled, `moved_to` in the one that is left. A store with either does not open,
 * so that two stores of one bot never run.
 */
import type { Kysely } from 'kysely'
import { OperatorError } from '../errors.ts'
import { writeFlag } from './records/rows.ts'
import type { Schema } from './schema.ts'

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
  const row = await db
    .selectFrom('flags')
    .selectAll()
    .where('name', 'in', [ARRIVING, MOVED_TO])
    .executeTakeFirst()
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
export function moved({ flag, place: other, at }: MoveMark, place: string): OperatorError {
  return flag === ARRIVING
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
}
