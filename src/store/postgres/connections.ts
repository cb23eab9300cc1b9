/** The pool of connections for queries, shared by all stores of a process. */
import { callbackify } from 'node:util'
import type { PostgresPool, PostgresPoolClient } from 'kysely'
import { Pool, type ClientBase, type PoolClient } from 'pg'
import { FairQueue, type Lane } from '../../util/fair-queue.ts'
import type { DatabaseAddress } from './address.ts'
import { clientOptions, DatabaseClient, parametersOf } from './client.ts'
import { CommitLostError, kindOf, PostgresError } from './failures.ts'
import { LOOK_MS, LOST_MS, SLOW_MS } from './times.ts'

/** Most connections: writes to one store run one after the other in any case. */
const MOST = { slots: 8, perLane: 8 }
/** The same for the stores of several bots, none of which gets them all. */
const MOST_OF_SEVERAL = { slots: 16, perLane: 8, perLaneAmongOthers: 2 }
/** One that nobody used for so long is closed, ms. */
const IDLE_MS = 60_000
export interface QueryConnectionsParts {
  isOfSeveral: boolean
  /** Called when the database may not answer any more. */
  suspect: () => void
  /** Asks the server which of its processes work now. */
  findBusy: (pids: number[]) => Promise<number[]>
  /** Checks a new connection before its use. @throws when the connection must not be used */
  admit: (client: ClientBase) => Promise<void>
}

type PoolMember = PoolClient & DatabaseClient

/** Something that waits for the database. Times are of the monotonic clock, in ms. */
interface Waiting {
  sinceMs: number
  /** Null while it waits for a connection. */
  client: PoolMember | null
  /** Since when the server has nothing to do for it; null while it has. */
  idleSinceMs: number | null
}

/** The pool. Pending queries are rejected when their connection is cut. */
export class QueryConnections implements AsyncDisposable {
  readonly #parts: QueryConnectionsParts
  readonly #pool: Pool
  readonly #queue: FairQueue
  readonly #clients = new Set<PoolMember>()
  /** Queries without a response, the oldest first. */
  readonly #waiting = new Set<Waiting>()
  #look: NodeJS.Timeout | null = null
  #isAsking = false

  constructor(address: DatabaseAddress, parts: QueryConnectionsParts) {
    const bounds = parts.isOfSeveral ? MOST_OF_SEVERAL : MOST
    this.#parts = parts
    this.#queue = new FairQueue(bounds)
    this.#pool = new Pool({
      ...clientOptions(address, 'pool'),
      max: bounds.slots,
      idleTimeoutMillis: IDLE_MS,
      allowExitOnIdle: true,
      Client: DatabaseClient,
      verify: callbackify(parts.admit),
    })
    this.#pool.on('error', parts.suspect)
    this.#pool.on('connect', (client) => {
      this.#clients.add(client as PoolMember)
      // the pending query rejects with the error
      client.on('error', () => {})
    })
    this.#pool.on('remove', (client) => this.#clients.delete(client as PoolMember))
  }

  /** The pool for one store, with a lane beside the other stores', as Kysely's dialect needs it. */
  lane(): PostgresPool {
    const lane = this.#queue.lane()
    return {
      options: {},
      connect: () => this.#connect(lane),
      // the pool is of all
      end: () => Promise.resolve(),
    }
  }

  /** Occupies a slot of the lane until the connection is released. */
  #connect(lane: Lane): Promise<PostgresPoolClient> {
    const taken = Promise.withResolvers<PostgresPoolClient>()
    const held = lane.run(async () => {
      const released = Promise.withResolvers<void>()
      taken.resolve(await this.#take(released.resolve))
      await released.promise
    })
    held.catch(taken.reject)
    return taken.promise
  }

  async #take(onReleased: () => void): Promise<PostgresPoolClient> {
    const done = this.#begin()
    try {
      const client = (await this.#pool.connect()) as PoolMember
      return pooledClient({ client, begin: () => this.#begin(client), onReleased })
    } catch (error) {
      if (['lost', 'rolled-back'].includes(kindOf(error))) this.#parts.suspect()
      throw error
    } finally {
      done()
    }
  }

  /** Ends every connection but one; queries that run are rejected. */
  cut(except?: ClientBase): void {
    for (const client of this.#clients) if (client !== except) client.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#look !== null) clearInterval(this.#look)
    await this.#pool.end()
  }

  /** Records a wait for the database. @returns a function that ends it */
  #begin(client: PoolMember | null = null): () => void {
    const one: Waiting = { sinceMs: performance.now(), client, idleSinceMs: null }
    this.#waiting.add(one)
    this.#look ??= setInterval(() => this.#lookAtSlow(), LOOK_MS).unref()
    return () => {
      this.#waiting.delete(one)
      if (this.#waiting.size > 0 || this.#look === null) return
      clearInterval(this.#look)
      this.#look = null
    }
  }

  #lookAtSlow(): void {
    const nowMs = performance.now()
    const slow = [...this.#waiting].filter(({ sinceMs }) => nowMs - sinceMs > SLOW_MS)
    if (slow.length === 0) return
    this.#parts.suspect()
    // oxlint-disable-next-line typescript/no-floating-promises -- #endDead catches its errors
    void this.#endDead(slow.filter(({ client }) => client !== null))
  }

  /** A connection can be dead alone, without a word, while the session is well. */
  async #endDead(slow: readonly Waiting[]): Promise<void> {
    if (this.#isAsking || slow.length === 0) return
    this.#isAsking = true
    const askedMs = performance.now()
    try {
      const busy = new Set(await this.#parts.findBusy(slow.map(({ client }) => client?.pid ?? 0)))
      for (const one of slow) {
        one.idleSinceMs = busy.has(one.client?.pid ?? 0) ? null : (one.idleSinceMs ?? askedMs)
        const isLost = one.idleSinceMs !== null && askedMs - one.idleSinceMs > LOST_MS
        if (isLost && this.#waiting.has(one)) one.client?.destroy()
      }
    } catch {
      // the session itself is not answered, and cuts all of them
    } finally {
      this.#isAsking = false
    }
  }
}

const nothing = (command: string) => ({ command, rowCount: 0, rows: [] })

/** Marks an update that is sent with the next statement. */
export const WITH_NEXT = '/* with the next */'
/** Statements of a transaction whose results nobody reads: they are sent with the next one. */
const IS_WITH_NEXT = /^begin$|^insert (?!.* returning )|\/\* with the next \*\/$/s
/** More of them than so many wait for their answers: they hold their values in memory. */
const MOST_WITH_NEXT = 16

/**
 * A connection out of the pool, for one transaction or query.
 * @param o `begin`: called before each query, and returns a function to call after it
 */
function pooledClient(o: {
  client: PoolMember
  begin: () => () => void
  onReleased: () => void
}): PostgresPoolClient {
  const { client } = o
  /** Of the transaction, from its begin on; null outside of one. */
  let sent: unknown[] | null = null
  let failed: Error | undefined
  const query = async (sql: string, parameters: readonly unknown[]): Promise<unknown> => {
    if (failed !== undefined) {
      // a transaction ends with its connection, and why that was lost is known
      if (sql === 'rollback') return nothing('ROLLBACK')
      throw new PostgresError('lost', 'the connection was lost')
    }
    if (sql === 'begin') sent = []
    const before = sent ?? []
    const isWithNext = before.length < MOST_WITH_NEXT && IS_WITH_NEXT.test(sql)
    if (sent !== null && isWithNext) client.hold()
    const asked = client.query(sql, parametersOf(parameters))
    // the next statement rejects with the same error
    asked.catch(() => undefined)
    if (sent !== null && isWithNext) {
      sent.push(asked)
      return nothing('')
    }
    before.forEach(() => client.flush())
    sent = sent === null || sql === 'commit' || sql === 'rollback' ? null : []
    const done = o.begin()
    try {
      // the first that fails is the reason of the others
      for (const one of before) await one
      const result = await asked
      requireReplicated(client, sql)
      return result
    } catch (error) {
      if (kindOf(error) !== 'lost') throw error
      failed = error as Error
      throw sql === 'commit' ? new CommitLostError(error) : error
    } finally {
      done()
    }
  }
  /** A connection that failed, or that Kysely gives up, is not used again. */
  const release = (isBroken?: boolean): void => {
    client.release(isBroken === true ? true : failed)
    o.onReleased()
  }
  return { query, release } as unknown as PostgresPoolClient
}

/**
 * A commit that has waited for its standby in vain, cancelled by its time limit or by somebody,
 * succeeds with no more than a warning. No other statement of ours but VACUUM is warned about.
 */
function requireReplicated(client: PoolMember, sql: string): void {
  const { isWarned } = client
  client.isWarned = false
  if (!isWarned || sql.startsWith('VACUUM')) return
  throw new PostgresError('storage', 'the standby has not confirmed the commit')
}
