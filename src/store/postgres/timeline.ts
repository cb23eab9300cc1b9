import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ClientBase } from 'pg'
import { resultOr } from '../../errors.ts'
import { writeWhole } from '../files.ts'
import { kindOf } from './failures.ts'

const FILE = 'database.json'
/** Delay before the last known epoch is written, in ms; closing the store writes it at once. */
const WAIT_MS = 1000

/** Which history a database goes on with. */
export interface Timeline {
  /** Of the cluster, the same on its standbys. */
  systemIdentifier: string
  /** Begins anew, one higher, when a standby is promoted. */
  timelineId: number
}

/** A standby has no timeline of its own; the name of a WAL file begins with that of a primary. */
const TIMELINE = `
  SELECT system_identifier::text AS "systemIdentifier",
    CASE WHEN pg_is_in_recovery() THEN 0
      ELSE ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int
    END AS "timelineId"
  FROM pg_control_system()`

/** Null on a standby, and where the server does not report it. */
export async function readTimeline(client: ClientBase): Promise<Timeline | null> {
  try {
    const { rows } = await client.query<Timeline>(TIMELINE)
    const [found] = rows
    return found === undefined || found.timelineId === 0 ? null : found
  } catch (error) {
    // services that are like PostgreSQL may lack these functions, or keep them to themselves
    if (['mistake', 'rights'].includes(kindOf(error))) return null
    throw error
  }
}

/** Whether a database is a former primary of the last known one, or of another cluster. */
export const isBehind = (found: Timeline, newest: Timeline): boolean =>
  found.systemIdentifier !== newest.systemIdentifier || found.timelineId < newest.timelineId

/** How far a database was when it was last seen. */
export interface Seen {
  epoch: number
  /** Null where the server did not report it. */
  timeline: Timeline | null
}

/**
 * How far a sidecar has seen its database, in its data directory: its next start refuses one that is
 * behind that. It counts for the address and schema that it names.
 */
export class LastSeenTimeline implements Disposable {
  readonly #file: string
  readonly #place: string
  #noted: Seen | null = null
  /** Runs while the last known epoch is not written yet. */
  #timer: NodeJS.Timeout | undefined

  /** @param place the database and its schema */
  constructor(dataDir: string, place: string) {
    this.#file = join(dataDir, FILE)
    this.#place = place
  }

  /** Deletes the record, for another store in its place. @throws an error of node:fs */
  static forget(dataDir: string): void {
    rmSync(join(dataDir, FILE), { force: true })
  }

  /** Whether a database is behind the record; one without a store is. */
  isAheadOf(found: Seen | null): boolean {
    const seen = this.#read()
    if (seen === null) return false
    if (found === null || found.epoch < seen.epoch) return true
    const { timeline } = found
    return timeline !== null && seen.timeline !== null && isBehind(timeline, seen.timeline)
  }

  /** Writes down how far the database is, soon. */
  note(seen: Seen): void {
    const { epoch, timeline } = this.#noted ?? {}
    // a server's timeline is the same object for as long as no connection was made
    if (epoch === seen.epoch && timeline === seen.timeline) return
    this.#noted = seen
    this.#timer ??= setTimeout(() => this.#flush(), WAIT_MS).unref()
  }

  [Symbol.dispose](): void {
    this.#flush()
  }

  /** Null for a damaged file. */
  #read(): Seen | null {
    const read = () => JSON.parse(readFileSync(this.#file, 'utf8')) as Seen & { place: string }
    const seen = resultOr(read, null)
    return seen?.place === this.#place ? seen : null
  }

  /** A data directory that cannot be written does not hold up a store that is elsewhere. */
  #flush(): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    const text = JSON.stringify({ place: this.#place, ...this.#noted })
    resultOr(() => writeWhole(this.#file, `${text}\n`), null)
  }
}
