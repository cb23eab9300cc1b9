import { OperatorError } from '../errors.ts'
import { describeAddress, type DatabaseAddress } from './address.ts'
import { tryLock, unlock, type AdvisoryLock, type LockServer } from './locks.ts'
import { lockName } from './schema.ts'

/** How old a count may be that is given once more, ms. */
const FRESH_MS = 800

/** The parts of the server that the locks of open stores need. */
interface OpenLockServer extends LockServer {
  readonly address: DatabaseAddress
  readonly openLocks: OpenLockCounts
}

/**
 * The advisory lock of an open store. Sidecars share the lock; `store move` and a migration that is
 * not additive get it only while no sidecar has the store open.
 */
export class OpenLock implements AsyncDisposable {
  readonly #server: OpenLockServer
  readonly #lock: AdvisoryLock
  #generation = 0
  /** A lock is granted as often as it is asked for, and must be given back as often. */
  #taking: Promise<void> | null = null

  /** @param kind `alone`: nobody else may have the store open */
  constructor(server: OpenLockServer, schema: string, kind: 'shared' | 'alone' = 'shared') {
    this.#server = server
    this.#lock = { name: lockName(schema, 'presence'), isShared: kind === 'shared' }
  }

  /** False when it was lost with the session. */
  get isHeld(): boolean {
    const { session } = this.#server
    return session.isConnected && session.generation === this.#generation
  }

  /**
   * Acquires the lock, also again after the session was lost.
   * @throws OperatorError `store-in-use` when somebody needs the store alone, or has it open;
   *   PostgresError `lost`, an error of pg
   */
  async ensure(): Promise<void> {
    if (this.isHeld) return
    this.#taking ??= this.#take().finally(() => (this.#taking = null))
    await this.#taking
  }

  async #take(): Promise<void> {
    const question = { text: tryLock(this.#lock), parameters: [this.#lock.name] }
    const [[row] = []] = await this.#server.askAll<{ taken: boolean }>([question])
    if (row?.taken !== true) throw this.#taken()
    this.#generation = this.#server.session.generation
    this.#server.openLocks.add(this.#lock.name)
  }

  /** How many have the store open, within the last second. @throws PostgresError `lost`, an error of pg */
  async count(): Promise<number> {
    await this.ensure()
    const counts = await this.#server.openLocks.read()
    return Math.max(1, counts.get(this.#lock.name) ?? 1)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { openLocks, session } = this.#server
    openLocks.delete(this.#lock.name)
    if (!this.isHeld) return
    this.#generation = 0
    await unlock(session, this.#lock)
  }

  #taken(): OperatorError {
    const place = describeAddress(this.#server.address)
    return this.#lock.isShared
      ? new OperatorError(
          'store-in-use',
          `the store in ${place} is being moved`,
          'wait until `postern store move` has ended; its output says where the store is then',
        )
      : new OperatorError(
          'store-in-use',
          `a sidecar has the store in ${place} open`,
          'stop every sidecar of this bot first',
        )
  }
}

const COUNT = `
  SELECT name, count(DISTINCT held.pid)::int AS count
  FROM unnest($1::text[]) AS name
  LEFT JOIN pg_locks AS held
    ON held.locktype = 'advisory' AND held.granted AND held.objsubid = 1
    AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (held.classid::bigint << 32 | held.objid::bigint) = hashtextextended(name, 0)
  GROUP BY name`

/** By the name of an open lock: how many processes hold it. */
type HolderCounts = ReadonlyMap<string, number>

/** Counts the holders of the open locks of all stores of a process, with one query a second at most. */
export class OpenLockCounts {
  readonly #server: LockServer
  readonly #names = new Set<string>()
  #latest: { counts: Promise<HolderCounts>; atMs: number; generation: number } | null = null

  constructor(server: LockServer) {
    this.#server = server
  }

  /** Adds a lock to the query. */
  add(name: string): void {
    if (!this.#names.has(name)) this.#latest = null
    this.#names.add(name)
  }

  delete(name: string): void {
    this.#names.delete(name)
  }

  /** The counts of the last second. @throws PostgresError `lost`, an error of pg */
  read(): Promise<HolderCounts> {
    const atMs = performance.now()
    const { generation } = this.#server.session
    const latest = this.#latest
    if (latest?.generation === generation && atMs - latest.atMs < FRESH_MS) return latest.counts
    const counts = this.#ask()
    this.#latest = { counts, atMs, generation }
    counts.catch(() => (this.#latest = null))
    return counts
  }

  async #ask(): Promise<HolderCounts> {
    const question = { text: COUNT, parameters: [[...this.#names]] }
    const [rows = []] = await this.#server.askAll<{ name: string; count: number }>([question])
    return new Map(rows.map(({ name, count }) => [name, count]))
  }
}
