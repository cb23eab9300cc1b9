import { OperatorError } from '../../errors.ts'
import { describeAddress } from './address.ts'
import { LOCK_NUMBER, lockName } from './schema.ts'
import type { PostgresServer } from './server.ts'

/**
 * Shows that a store is open: a lock that all its sidecars share, so that whoever needs the store
 * alone (`store move`, a step that is not additive) gets it from none of them.
 */
export class Presence implements AsyncDisposable {
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
   *   ConnectionLostError, an error of pg
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
    this.#server.holders.add(this.#schema)
  }

  /** How many have the store open, within the last second. @throws ConnectionLostError, an error of pg */
  async count(): Promise<number> {
    await this.ensure()
    const { stores } = await this.#server.holders.look()
    return Math.max(1, stores.get(this.#schema)?.sidecars.length ?? 1)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.holders.delete(this.#schema)
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
