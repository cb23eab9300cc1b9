import { OperatorError } from '../errors.ts'
import { describeAddress } from './address.ts'
import { LOCK_NUMBER, lockName } from './schema.ts'
import type { PostgresServer } from './server.ts'

/**
 * The advisory lock of an open store. Sidecars share the lock; `store move` and a migration that is
 * not additive get it only while no sidecar has the store open.
 */
export class OpenLock implements AsyncDisposable {
  readonly #server: PostgresServer
  readonly #schema: string
  readonly #kind: 'shared' | 'alone'
  #generation = 0
  /** A lock is granted as often as it is asked for, and must be given back as often. */
  #taking: Promise<void> | null = null

  /** @param kind `alone`: nobody else may have the store open */
  constructor(server: PostgresServer, schema: string, kind: 'shared' | 'alone' = 'shared') {
    this.#server = server
    this.#schema = schema
    this.#kind = kind
  }

  /** False when it was lost with the session. */
  get isHeld(): boolean {
    const { session } = this.#server
    return session.isConnected && session.generation === this.#generation
  }

  /**
   * Takes it, also again after the session was lost.
   * @throws OperatorError `store-in-use` when somebody needs the store alone, or has it open;
   *   PostgresError `lost`, an error of pg
   */
  async ensure(): Promise<void> {
    if (this.isHeld) return
    this.#taking ??= this.#take().finally(() => (this.#taking = null))
    await this.#taking
  }

  async #take(): Promise<void> {
    const shared = this.#kind === 'shared' ? '_shared' : ''
    const [row] = await this.#server.ask<{ taken: boolean }>(
      `SELECT pg_try_advisory_lock${shared}(${LOCK_NUMBER}) AS taken`,
      [lockName(this.#schema, 'presence')],
    )
    if (row?.taken !== true) throw this.#taken()
    this.#generation = this.#server.session.generation
    this.#server.openLocks.add(this.#schema)
  }

  /** How many have the store open, within the last second. @throws PostgresError `lost`, an error of pg */
  async count(): Promise<number> {
    await this.ensure()
    const counts = await this.#server.openLocks.read()
    return Math.max(1, counts.get(this.#schema) ?? 1)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.openLocks.delete(this.#schema)
    if (!this.isHeld) return
    this.#generation = 0
    const shared = this.#kind === 'shared' ? '_shared' : ''
    const unlock = `SELECT pg_advisory_unlock${shared}(${LOCK_NUMBER})`
    const name = lockName(this.#schema, 'presence')
    await this.#server.session.query(unlock, [name]).catch(() => undefined)
  }

  #taken(): OperatorError {
    const place = describeAddress(this.#server.address)
    return this.#kind === 'alone'
      ? new OperatorError(
          'store-in-use',
          `a sidecar has the store in ${place} open`,
          'stop every sidecar of this bot first',
        )
      : new OperatorError(
          'store-in-use',
          `the store in ${place} is being moved`,
          'wait until `postern store move` has ended; its output says where the store is then',
        )
  }
}
