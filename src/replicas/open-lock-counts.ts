import { lockName } from './schema.ts'
import type { Session } from './session.ts'

/** How old a count may be that is given once more, ms. */
const FRESH_MS = 800

/** By schema: how many processes have the store open. */
type Counts = ReadonlyMap<string, number>

interface CountRow extends Record<string, unknown> {
  schema: string
  count: number
}

const COUNT = `
  SELECT named.schema, count(DISTINCT held.pid)::int AS count
  FROM unnest($1::text[], $2::text[]) AS named(schema, lock)
  LEFT JOIN pg_locks AS held
    ON held.locktype = 'advisory' AND held.granted AND held.objsubid = 1
    AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (held.classid::bigint << 32 | held.objid::bigint) = hashtextextended(named.lock, 0)
  GROUP BY named.schema`

/** Counts the holders of the open locks of all stores of a process, with one query a second at most. */
export class OpenLockCounts {
  readonly #ask: (text: string, parameters: unknown[]) => Promise<CountRow[]>
  readonly #session: Pick<Session, 'generation'>
  readonly #schemas = new Set<string>()
  #latest: { counts: Promise<Counts>; atMs: number; generation: number } | null = null

  /** @param ask a query of the session */
  constructor(
    ask: (text: string, parameters: unknown[]) => Promise<CountRow[]>,
    session: Pick<Session, 'generation'>,
  ) {
    this.#ask = ask
    this.#session = session
  }

  /** Adds a store to the query. */
  add(schema: string): void {
    if (!this.#schemas.has(schema)) this.#latest = null
    this.#schemas.add(schema)
  }

  delete(schema: string): void {
    this.#schemas.delete(schema)
  }

  /** The counts of the last second. @throws PostgresError `lost`, an error of pg */
  read(): Promise<Counts> {
    const now = performance.now()
    const { generation } = this.#session
    const isFresh = this.#latest !== null && now - this.#latest.atMs < FRESH_MS
    if (isFresh && this.#latest?.generation === generation) return this.#latest.counts
    const latest = { counts: this.#read(), atMs: now, generation }
    this.#latest = latest
    latest.counts.catch(() => {
      if (this.#latest === latest) this.#latest = null
    })
    return latest.counts
  }

  async #read(): Promise<Counts> {
    const schemas = [...this.#schemas]
    const locks = schemas.map((schema) => lockName(schema, 'presence'))
    const rows = await this.#ask(COUNT, [schemas, locks])
    return new Map(rows.map(({ schema, count }) => [schema, count]))
  }
}
