import { randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import { OperatorError, Refusal } from '../errors.ts'
import { Mutex } from '../util/scheduling.ts'
import { prepare } from './choose.ts'
import type { NewProtection, OpenProtection, SecretSealer } from './protection.ts'
import { findRow, insertNew } from './records/rows.ts'
import { corrupt } from './refusals.ts'
import { RowSeal } from './row-seal.ts'
import { relockAll, writeMoveIn, type ProtectionMove } from './relock.ts'
import type { ProtectionMethod, Schema } from './schema.ts'
import { scrubDue } from './scrub.ts'
import { SightingWriter } from './sightings.ts'
import type { Change, DueSightings, Moved, Relock } from './store.ts'
import { Writability } from './writability.ts'

const SECRET_BYTES = 32

/**
 * The shared part of a store in a file and one in a database: its protection, the data sealed under
 * it, and the order of sightings and writes; `Store` documents the methods.
 */
export abstract class ProtectedStore {
  /** Protections are changed one after the other. */
  readonly #moves = new Mutex()
  /** Null when the store has no protection, or none that this sidecar opens. */
  protected held: OpenProtection | null
  readonly rowSeal: RowSeal
  protected readonly underWay = new UnderWay()
  protected readonly writability = new Writability()
  readonly onWritable = this.writability.onChange
  protected readonly sightings = new SightingWriter((...write) => this.put(...write, true))

  constructor(held: OpenProtection | null) {
    this.held = held
    this.rowSeal = new RowSeal(held?.rowKey ?? null)
  }

  abstract read<T>(query: (db: Kysely<Schema>) => Promise<T>): Promise<T>
  /**
   * Runs a transaction in the order of writes.
   * @param onWritten called before any other write begins
   * @param mayRepeat it may run again after it was kept
   */
  protected abstract put<T>(
    change: Change<T>,
    onWritten?: (result: T) => void,
    mayRepeat?: true,
  ): Promise<T>
  abstract scrub(): Promise<void>
  /**
   * The error of a move for one of its write. After `store-unwritable` it is unknown under which
   * protection the store is.
   */
  protected moveError(error: unknown): unknown {
    return error
  }

  /** Reads while no move is written. */
  protected readInOrder<T>(query: (db: Kysely<Schema>) => Promise<T>): Promise<T> {
    return this.read(query)
  }

  async write<T>(change: Change<T>, onWritten?: (result: T) => void): Promise<T> {
    if (this.sightings.isDue) await this.sightings.settle()
    return await this.put(change, onWritten)
  }

  writeFirst(sightings: DueSightings): void {
    this.sightings.add(sightings)
  }

  settle(): Promise<void> {
    return this.sightings.settle()
  }

  /** Writes due sightings, and refuses new operations. @returns false when it was closed before */
  protected async close(): Promise<boolean> {
    if (this.sightings.isDue) await this.sightings.finish()
    return await this.underWay.close()
  }

  get method(): ProtectionMethod | null {
    return this.held?.method ?? null
  }

  get masterSecret(): string | null {
    return this.held?.masterSecret ?? null
  }

  seal(name: string, secret: Uint8Array): Buffer {
    return this.#sealer.seal(name, secret)
  }

  unseal(name: string, sealed: Uint8Array): Buffer {
    return this.#sealer.unseal(name, sealed)
  }

  async secret(name: string): Promise<Buffer> {
    const kept = await this.readInOrder((db) => this.#find(db, name))
    return kept ?? (await this.#make(name))
  }

  move(wanted: NewProtection, relock: Relock): Promise<Moved> {
    return this.#moves.run(() => this.#move(wanted, relock))
  }

  async #move(wanted: NewProtection, relock: Relock): Promise<Moved> {
    const from = this.held
    const to = await prepare(wanted, from?.rowKey)
    try {
      for (let isDone = false; !isDone;) {
        const relocked = await this.read((db) => relockAll(db, { from, to: to.held, relock }))
        isDone = await this.#writeMove({ from, to, relocked })
      }
    } catch (error) {
      const isUnsettled = error instanceof OperatorError && error.code === 'store-unwritable'
      if (this.held !== to.held && !isUnsettled) await to.discard()
      throw error
    }
    return { isScrubbed: await scrubDue(this), oldEntry: from?.entry ?? null }
  }

  /** @returns false, with nothing written, when the keys are not those that were locked anew */
  async #writeMove(move: ProtectionMove): Promise<boolean> {
    const onWritten = (isWritten: boolean): void => {
      if (isWritten) this.reopen(move.to.held)
    }
    return await this.put((db) => writeMoveIn(db, move), onWritten).catch((error: unknown) => {
      throw this.moveError(error)
    })
  }

  /** @param held null: this sidecar does not open the protection; MACs stay as they are */
  protected reopen(held: OpenProtection | null): void {
    const { key } = this.rowSeal
    // the key stays the same for the life of a store: another one is of another protection
    this.held = held !== null && key?.equals(held.rowKey) === false ? null : held
    this.rowSeal.key = key ?? held?.rowKey ?? null
  }

  get #sealer(): SecretSealer {
    if (this.held !== null) return this.held.sealer
    throw new Refusal('postern_locked', 'the store has no protection that this sidecar opens')
  }

  async #find(db: Kysely<Schema>, name: string): Promise<Buffer | null> {
    const row = await findRow(db, 'secrets', { name })
    return row === undefined ? null : this.unseal(name, row.sealed)
  }

  async #make(name: string): Promise<Buffer> {
    return await this.write(async (db) => {
      await insertNew(db, 'secrets', { name, sealed: this.seal(name, randomBytes(SECRET_BYTES)) })
      const made = await this.#find(db, name)
      if (made === null) throw corrupt('a sealed secret is gone')
      return made
    })
  }
}

/** Operations under way on a store: closing waits for them, and none begins after that. */
class UnderWay {
  readonly #running = new Set<Promise<unknown>>()
  #isClosed = false

  /** @throws Refusal `postern_store_unwritable` when the store is closed; the task's error */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new Refusal('postern_store_unwritable', 'the store is closed')
    const promise = task()
    this.#running.add(promise)
    return await promise.finally(() => this.#running.delete(promise))
  }

  /** Refuses new operations, and waits for those under way. @returns false when closed before */
  async close(): Promise<boolean> {
    if (this.#isClosed) return false
    this.#isClosed = true
    await Promise.allSettled(this.#running)
    return true
  }
}
