import { Listeners } from '../util/listeners.ts'
import type { LockName, StoreLock } from '../store/store.ts'
import { LOCK_NUMBER, lockName } from './schema.ts'
import { epochIn, type PostgresServer } from './server.ts'
import { limitSilence, type Session } from './session.ts'

/** A lock by its number, and how it is taken. */
interface LockParts {
  number: string
  shared: '_shared' | ''
}

interface TakenLock {
  lock: HeldLock
  epoch: number
}

type LockAnswer = { taken?: boolean; epoch?: number }

/** The locks by name of one store: advisory locks of the server's session. */
export class NamedLocks implements AsyncDisposable {
  readonly #server: PostgresServer
  readonly #schema: string
  /** The server grants a lock to one session as often as it asks; this process has it once. */
  readonly #held = new Map<LockName, HeldLock | null>()

  constructor(server: PostgresServer, schema: string) {
    this.#server = server
    this.#schema = schema
  }

  /**
   * Takes a lock that nobody has, here or elsewhere; a shared one also beside others that share it.
   * @param o `withEpoch`: asks in the same round trip for the epoch once the lock is taken
   * @returns null while somebody has it; the epoch, 0 when it was not asked for
   * @throws PostgresError `lost`, an error of pg
   */
  async take(
    name: LockName,
    o: { isShared?: boolean; withEpoch?: boolean } = {},
  ): Promise<TakenLock | null> {
    if (this.#held.has(name)) return null
    this.#held.set(name, null)
    let taken: TakenLock | null = null
    try {
      taken = await this.#ask(name, o)
      return taken
    } finally {
      if (taken === null) this.#held.delete(name)
      else this.#held.set(name, taken.lock)
    }
  }

  async #ask(
    name: LockName,
    { isShared = false, withEpoch = false }: { isShared?: boolean; withEpoch?: boolean },
  ): Promise<TakenLock | null> {
    const { session } = this.#server
    const of: LockParts = {
      number: lockName(this.#schema, name),
      shared: isShared ? '_shared' : '',
    }
    // from before the question on: whoever ends a hold meanwhile does not lift the limit that it sets
    session.hold()
    let lock: HeldLock | null = null
    try {
      const [[row] = [], [state] = []] = await this.#server.askAll<LockAnswer>([
        { text: takeAndLimit(of), parameters: [of.number] },
        ...(withEpoch ? [{ text: epochIn(this.#schema) }] : []),
      ])
      if (row?.taken !== true) return null
      session.limited()
      lock = new HeldLock(this.#server, of)
      lock.onEnd(() => this.#held.delete(name))
      return { lock, epoch: state?.epoch ?? 0 }
    } catch (error) {
      // when only the second question failed
      if (session.isConnected) await unlock(session, of)
      throw error
    } finally {
      if (lock === null) void session.endBeat().catch(() => undefined)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const lock of this.#held.values()) await lock?.[Symbol.asyncDispose]()
  }
}

/** A lock that this process has, until it gives it back or the session is lost. */
class HeldLock implements StoreLock {
  readonly #server: PostgresServer
  readonly #of: LockParts
  readonly #generation: number
  readonly #lost = new AbortController()
  readonly #ends = new Listeners()
  readonly #stopListening: () => void
  #isOver = false

  constructor(server: PostgresServer, of: LockParts) {
    this.#server = server
    this.#of = of
    this.#generation = server.session.generation
    this.#stopListening = server.session.onLost(() => this.#end())
  }

  get isHeld(): boolean {
    const { session } = this.#server
    return !this.#isOver && session.generation === this.#generation && session.isProven
  }

  get signal(): AbortSignal {
    return this.#lost.signal
  }

  /** Calls back once it is given back or lost. */
  onEnd(listener: () => void): void {
    this.#ends.add(listener)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { session } = this.#server
    const isOurs = !this.#isOver && session.generation === this.#generation
    this.#end()
    // what a session had goes with it
    if (!isOurs) return
    await unlock(session, this.#of)
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#stopListening()
    this.#ends.emit()
    this.#lost.abort()
    void this.#server.session.endBeat().catch(() => undefined)
  }
}

/** Takes a lock if it is free; who has it is not silent, or loses it. */
function takeAndLimit({ shared }: LockParts): string {
  const lock = `SELECT pg_try_advisory_lock${shared}(${LOCK_NUMBER}) AS taken`
  return `WITH lock AS MATERIALIZED (${lock})
    SELECT taken, (${limitSilence()} AND taken) FROM lock`
}

async function unlock(session: Session, { number, shared }: LockParts): Promise<void> {
  const question = `SELECT pg_advisory_unlock${shared}(${LOCK_NUMBER})`
  await session.query(question, [number]).catch(() => undefined)
}
