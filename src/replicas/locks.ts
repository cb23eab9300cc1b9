/** Advisory locks of the server's session. */
import type { LockName, StoreLock } from '../store/store.ts'
import { epochIn, lockName } from './schema.ts'
import { limitSilence, type Question, type Session } from './session.ts'

/** The parts of the server that locks need. */
export interface LockServer {
  readonly session: Session
  askAll<Row extends Record<string, unknown>>(questions: readonly Question[]): Promise<Row[][]>
}

/** One advisory lock, exclusive or shared. */
export interface AdvisoryLock {
  /** As `lockName` gives it. */
  name: string
  isShared: boolean
}

/** SQL that acquires the lock if it is free; its one parameter is the lock's name. */
export const tryLock = ({ isShared }: AdvisoryLock): string =>
  `SELECT pg_try_advisory_lock${isShared ? '_shared' : ''}(hashtextextended($1, 0)) AS taken`

/** Gives a lock back, where the session still has it. */
export async function unlock(session: Session, { name, isShared }: AdvisoryLock): Promise<void> {
  const question = `SELECT pg_advisory_unlock${isShared ? '_shared' : ''}(hashtextextended($1, 0))`
  await session.query(question, [name]).catch(() => undefined)
}

/** Acquires a lock if it is free, and limits the silence of the session that holds it. */
const takeAndLimit = (lock: AdvisoryLock): Question => ({
  text: `WITH lock AS MATERIALIZED (${tryLock(lock)})
    SELECT taken, (${limitSilence()} AND taken) FROM lock`,
  parameters: [lock.name],
})

interface TakenLock {
  lock: HeldLock
  epoch: number
}

type LockAnswer = { taken?: boolean; epoch?: number }

/** The locks by name of one store. */
export class NamedLocks implements AsyncDisposable {
  readonly #server: LockServer
  readonly #schema: string
  /** The server grants a lock to one session as often as it asks; this process has it once. */
  readonly #held = new Map<LockName, HeldLock | null>()

  constructor(server: LockServer, schema: string) {
    this.#server = server
    this.#schema = schema
  }

  /**
   * Acquires a lock unless another holder has it, here or elsewhere; holders of a shared lock
   * coexist.
   * @param o `withEpoch`: the same round trip also reads the epoch once the lock is held
   * @returns null while another holder has it; the epoch, 0 without `withEpoch`
   * @throws PostgresError `lost`, an error of pg
   */
  async take(
    name: LockName,
    { isShared = false, withEpoch = false }: { isShared?: boolean; withEpoch?: boolean } = {},
  ): Promise<TakenLock | null> {
    if (this.#held.has(name)) return null
    this.#held.set(name, null)
    const { session } = this.#server
    const of = { name: lockName(this.#schema, name), isShared }
    // holds from before the query on: a hold that ends meanwhile must not lift the limit set here
    const hold = session.hold()
    let lock: HeldLock | null = null
    try {
      const [[row] = [], [state] = []] = await this.#server.askAll<LockAnswer>([
        takeAndLimit(of),
        ...(withEpoch ? [{ text: epochIn(this.#schema) }] : []),
      ])
      if (row?.taken !== true) return null
      session.limited()
      lock = new HeldLock(session, { of, hold, onEnd: () => this.#held.delete(name) })
      this.#held.set(name, lock)
      return { lock, epoch: state?.epoch ?? 0 }
    } catch (error) {
      // when only the second question failed
      if (session.isConnected) await unlock(session, of)
      throw error
    } finally {
      if (lock === null) {
        this.#held.delete(name)
        hold[Symbol.dispose]()
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const lock of this.#held.values()) await lock?.[Symbol.asyncDispose]()
  }
}

interface HeldLockParts {
  of: AdvisoryLock
  /** Keeps the session from being silent. */
  hold: Disposable
  /** Called once it is given back or lost. */
  onEnd: () => void
}

/** A lock that this process has, until it gives it back or the session is lost. */
class HeldLock implements StoreLock {
  readonly #session: Session
  readonly #parts: HeldLockParts
  readonly #end = new AbortController()
  readonly #stopListening: () => void

  constructor(session: Session, parts: HeldLockParts) {
    this.#session = session
    this.#parts = parts
    this.#stopListening = session.onLost(() => this.#endOnce())
  }

  get isHeld(): boolean {
    return !this.signal.aborted && this.#session.isProven
  }

  get signal(): AbortSignal {
    return this.#end.signal
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // the server releases the locks of a lost session
    if (this.#endOnce()) await unlock(this.#session, this.#parts.of)
  }

  /** @returns false when it was over before */
  #endOnce(): boolean {
    if (this.signal.aborted) return false
    this.#stopListening()
    this.#parts.onEnd()
    this.#end.abort()
    this.#parts.hold[Symbol.dispose]()
    return true
  }
}
