/** What one process has of a store at a time: advisory locks of the server's session, and turns. */
import { setTimeout as pause } from 'node:timers/promises'
import type { LockName, LockOptions, StoreLock, TurnName } from '../store.ts'
import { kindOf } from './failures.ts'
import { epochIn, lockName, turnsOf, LIVING, NOTIFIED, THIS_PROCESS } from './schema.ts'
import type { Question, Session } from './session.ts'
import type { PostgresServer } from './server.ts'

/** How often a locked row is asked for, and after how long again. */
const MOST_ASKED = 8
const BLOCKED_MS = 50

/** The parts of the server that locks need. */
export type LockServer = Pick<
  PostgresServer,
  'session' | 'ask' | 'askAll' | 'turnWaits' | 'address'
>

/** How the database gives a lock, and has it back: the first answers `taken` where it is free. */
export interface Lock {
  take: Question
  /** @param heir the process that asked for it, by the name that `TurnWaits` has; empty: anybody */
  give: (heir: string) => Question
  /** The name of a turn, by which others ask for it. */
  turn?: string
}

/** An advisory lock, exclusive or shared. @param name as `lockName` gives it */
export function advisoryLock(name: string, isShared = false): Lock {
  const how = isShared ? '_shared' : ''
  const of = (call: string): Question => {
    return { text: `SELECT ${call}(hashtextextended($1, 0)) AS taken`, parameters: [name] }
  }
  return { take: of(`pg_try_advisory_lock${how}`), give: () => of(`pg_advisory_unlock${how}`) }
}

/**
 * A turn, which a process may have for days: a row that names it, free once that process has died.
 * Who asks for it in vain leaves a mark there, by which others are notified once it is given back.
 * Rows that a crash of the server loses are those of processes whose sessions it ends, so that no
 * disk is waited for.
 */
export function turnLock(schema: string, name: TurnName): Lock {
  const turns = turnsOf(schema)
  const turn = lockName(schema, name)
  return {
    turn,
    take: {
      text: `INSERT INTO ${turns} AS turn (name, process) VALUES ($1, ${THIS_PROCESS})
        ON CONFLICT (name) DO UPDATE SET (process, wanted) = (
          SELECT CASE WHEN is_free THEN ${THIS_PROCESS} ELSE turn.process END, NOT is_free
          FROM (SELECT turn.process NOT IN (${LIVING}) AS is_free) AS now)
        RETURNING process = ${THIS_PROCESS} AS taken, set_config('synchronous_commit', 'off', true)`,
      parameters: [name],
    },
    give: (heir) => ({
      text: `WITH given AS (
          DELETE FROM ${turns} WHERE name = $1 AND process = ${THIS_PROCESS}
          RETURNING wanted, set_config('synchronous_commit', 'off', true))
        SELECT pg_notify('${NOTIFIED}', $2) FROM given WHERE wanted`,
      parameters: [name, `${heir} ${turn}`],
    }),
  }
}

/**
 * Gives a lock back, where the session still has it. A row that somebody else keeps locked is given up
 * with the session.
 */
export async function giveBack(session: Session, { text, parameters }: Question): Promise<void> {
  const given = unblocked(() => session.query(text, parameters))
  await given.catch((error: unknown) => {
    if (kindOf(error) === 'blocked') session.cut()
  })
}

/**
 * Runs a query of the session again where a row or table is locked, for half a second: it waits for a
 * lock only shortly, so that other stores are answered in between.
 */
export async function unblocked<T>(query: () => Promise<T>): Promise<T> {
  for (let asked = 1; ; asked += 1) {
    try {
      return await query()
    } catch (error) {
      if (kindOf(error) !== 'blocked' || asked === MOST_ASKED) throw error
      await pause(BLOCKED_MS)
    }
  }
}

type LockAnswer = { taken?: boolean; epoch?: number }

/** The locks by name of one store. */
export class NamedLocks implements AsyncDisposable {
  readonly #server: LockServer
  readonly #schema: string
  /** The server grants a lock to one session as often as it asks; this process has it once. */
  readonly #held = new Map<LockName, StoreLock | null>()

  constructor(server: LockServer, schema: string) {
    this.#server = server
    this.#schema = schema
  }

  /**
   * Acquires a lock unless another holder has it, here or elsewhere; holders of a shared lock
   * coexist.
   * @param o `isFresh`: the same round trip also reads the epoch once the lock is held
   * @returns null while another holder has it; the epoch, 0 without `isFresh`
   * @throws PostgresError `lost`, an error of pg
   */
  async take(
    name: LockName,
    { isShared = false, isFresh = false }: LockOptions = {},
  ): Promise<{ lock: StoreLock; epoch: number } | null> {
    if (this.#held.has(name)) return null
    this.#held.set(name, null)
    const { session } = this.#server
    const of =
      name === 'poll' || name === 'outbox'
        ? turnLock(this.#schema, name)
        : advisoryLock(lockName(this.#schema, name), isShared)
    let lock: StoreLock | null = null
    try {
      const [[row] = [], [state] = []] = await this.#server.askAll<LockAnswer>([
        of.take,
        ...(isFresh ? [{ text: epochIn(this.#schema) }] : []),
      ])
      if (row?.taken !== true) return null
      lock = heldLock(this.#server, of, () => void this.#held.delete(name))
      this.#held.set(name, lock)
      return { lock, epoch: state?.epoch ?? 0 }
    } catch (error) {
      // when only the second question failed
      if (session.isConnected) await giveBack(session, of.give(''))
      // another process gives it back or acquires it
      if (kindOf(error) === 'blocked' && !isFresh) return null
      throw error
    } finally {
      if (lock === null) this.#held.delete(name)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const lock of this.#held.values()) await lock?.[Symbol.asyncDispose]()
  }
}

/**
 * A lock that this process has, until it gives it back or the session is lost.
 * @param onEnd called once it is given back or lost
 */
function heldLock({ session, turnWaits }: LockServer, of: Lock, onEnd: () => void): StoreLock {
  const [ended, asked] = [new AbortController(), new AbortController()]
  const { signal } = ended
  signal.addEventListener('abort', onEnd)
  signal.addEventListener(
    'abort',
    session.onLost(() => ended.abort()),
  )
  if (of.turn !== undefined) {
    const withdraw = turnWaits.offer(of.turn, (heir) => asked.abort(heir))
    signal.addEventListener('abort', withdraw)
  }
  return {
    signal,
    asked: asked.signal,
    get isHeld() {
      return !signal.aborted && session.isProven
    },
    async [Symbol.asyncDispose]() {
      // the server releases the locks of a lost session
      if (signal.aborted) return
      ended.abort()
      const heir = asked.signal.aborted ? String(asked.signal.reason) : ''
      await giveBack(session, of.give(heir))
    },
  }
}
