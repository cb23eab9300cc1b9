import type { ClientBase } from 'pg'
import { kindOf, rolledBack } from './failures.ts'

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

/**
 * Keeps out connections to a former primary: once a promoted standby was seen, what it was promoted
 * from is refused, as is another cluster.
 */
export class Timelines {
  #newest: Timeline | null = null

  /** Null until a connection was made, and where the server does not say. */
  get newest(): Timeline | null {
    return this.#newest
  }

  /**
   * Looks where a new connection leads.
   * @returns true when a standby was promoted since the connections of before were made
   * @throws PostgresError `rolled-back`; an error of pg
   */
  async admit(client: ClientBase): Promise<boolean> {
    const found = await readTimeline(client)
    if (found === null) return false
    const newest = this.#newest
    if (newest !== null && isBehind(found, newest)) throw rolledBack()
    this.#newest = found
    return newest !== null && found.timelineId > newest.timelineId
  }
}

/** Null on a standby, and where the server does not say. */
async function readTimeline(client: ClientBase): Promise<Timeline | null> {
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

/** Whether a database is a former primary of what was seen, or another one. */
export const isBehind = (found: Timeline, newest: Timeline): boolean =>
  found.systemIdentifier !== newest.systemIdentifier || found.timelineId < newest.timelineId
