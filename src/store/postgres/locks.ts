import { Listeners } from '../../util/listeners.ts'
import type { LockName, StoreLock } from '../store.ts'
import { LOCK_NUMBER, lockName } from './schema.ts'
import type { PostgresServer } from './server.ts'

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
   * @returns null while somebody has it
   * @throws ConnectionLostError, an error of pg
   */
  async take(name: LockName, { isShared = false } = {}): Promise<StoreLock | null> {
    if (this.#held.has(name)) return null
    this.#held.set(name, null)
    let lock: HeldLock | null = null
    try {
      lock = await this.#ask(name, isShared ? '_shared' : '')
      return lock
    } finally {
      if (lock === null) this.#held.delete(name)
      else this.#held.set(name, lock)
    }
  }

  async #ask(name: LockName, shared: '_shared' | ''): Promise<HeldLock | null> {
    const { session } = this.#server
    const number = lockName(this.#schema, name)
    const [row] = await this.#server.ask<{ taken: boolean }>(
      `SELECT pg_try_advisory_lock${shared}(${LOCK_NUMBER}) AS taken`,
      [number],
    )
    if (row?.taken !== true) return null
    const lock = new HeldLock(this.#server, { number, shared })
    lock.onEnd(() => this.#held.delete(name))
    await session.beginBeat().catch(() => undefined)
    return lock
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const lock of this.#held.values()) await lock?.[Symbol.asyncDispose]()
  }
}

/** A lock that this process has, until it gives it back or the session is lost. */
class HeldLock implements StoreLock {
  readonly #server: PostgresServer
  readonly #of: { number: string; shared: '_shared' | '' }
  readonly #generation: number
  readonly #lost = new AbortController()
  readonly #ends = new Listeners()
  readonly #stopListening: () => void
  #isOver = false

  /** @param of the lock's number, and how it was taken */
  constructor(server: PostgresServer, of: { number: string; shared: '_shared' | '' }) {
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
    const { number, shared } = this.#of
    const unlock = `SELECT pg_advisory_unlock${shared}(${LOCK_NUMBER})`
    await session.query(unlock, [number]).catch(() => undefined)
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
