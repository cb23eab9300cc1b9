import { lockName } from './schema.ts'
import type { Session } from './session.ts'

/** How old an answer may be that is given once more, ms. */
const FRESH_MS = 800

/** Who has a store open, and who reads its bot's queue: numbers of sessions, one for each process. */
export interface StoreHolders {
  sidecars: readonly number[]
  reader: number | null
}

/** What is held of the stores that this process has open. */
export interface Holders {
  /** Our own session. */
  self: number
  /** By schema. */
  stores: ReadonlyMap<string, StoreHolders>
}

/** Rows of the view pg_locks for locks by name; those that nobody holds have no `pid`. */
interface Row extends Record<string, unknown> {
  self: number
  name: string
  pid: number | null
}

const HELD = `
  SELECT pg_backend_pid() AS self, named.name, held.pid
  FROM unnest($1::text[]) AS named(name)
  LEFT JOIN pg_locks AS held
    ON held.locktype = 'advisory' AND held.granted AND held.objsubid = 1
    AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (held.classid::bigint << 32 | held.objid::bigint) = hashtextextended(named.name, 0)`

/** Says who holds the locks of all stores of a process: one question for all that ask together. */
export class LockHolders {
  readonly #ask: (text: string, parameters: unknown[]) => Promise<Row[]>
  readonly #session: Pick<Session, 'generation'>
  readonly #schemas = new Set<string>()
  #latest: { holders: Promise<Holders>; atMs: number; generation: number } | null = null

  /** @param ask of the session, whose number is ours */
  constructor(
    ask: (text: string, parameters: unknown[]) => Promise<Row[]>,
    session: Pick<Session, 'generation'>,
  ) {
    this.#ask = ask
    this.#session = session
  }

  /** Adds a store to those that are looked at. */
  add(schema: string): void {
    if (!this.#schemas.has(schema)) this.#latest = null
    this.#schemas.add(schema)
  }

  delete(schema: string): void {
    this.#schemas.delete(schema)
  }

  /** How things were within the last second. @throws ConnectionLostError, an error of pg */
  look(): Promise<Holders> {
    const now = performance.now()
    const { generation } = this.#session
    const isFresh = this.#latest !== null && now - this.#latest.atMs < FRESH_MS
    if (isFresh && this.#latest?.generation === generation) return this.#latest.holders
    const latest = { holders: this.#read(), atMs: now, generation }
    this.#latest = latest
    latest.holders.catch(() => {
      if (this.#latest === latest) this.#latest = null
    })
    return latest.holders
  }

  async #read(): Promise<Holders> {
    const schemas = [...this.#schemas]
    const names = schemas.flatMap((schema) => [
      lockName(schema, 'presence'),
      lockName(schema, 'poll'),
    ])
    const rows = await this.#ask(HELD, [names])
    const byName = Map.groupBy(rows, ({ name }) => name)
    const pidsOf = (name: string): number[] => [
      ...new Set((byName.get(name) ?? []).flatMap(({ pid }) => (pid === null ? [] : [pid]))),
    ]
    const stores = schemas.map((schema): [string, StoreHolders] => {
      const [reader = null] = pidsOf(lockName(schema, 'poll'))
      return [schema, { sidecars: pidsOf(lockName(schema, 'presence')), reader }]
    })
    return { self: rows[0]?.self ?? 0, stores: new Map(stores) }
  }
}
