/**
 * Steps with the bot's key are made by one sidecar at a time, and sends of all sidecars wait while one
 * of them replaces the key.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Refusal } from '../../errors.ts'
import { readFlag, writeFlag } from '../records/rows.ts'
import type { Store, StoreLock } from '../store.ts'
import { Listeners } from '../../util/listeners.ts'
import { onlyOnce } from '../../util/scheduling.ts'

/** The flag by which a sidecar asks the others to let no more sends in. */
const RAISED = 'key_publishing'
/** How long sends wait for another sidecar: less than the time limits of bots. */
export const WAIT_MAX_MS = 20_000
/** Interval at which a waiting send, step or key replacement tries again. */
const LOOK_MS = 100
/** The lock is kept this long after the last send, so that a busy bot acquires it once. */
const KEEP_MS = 1000

/** A send that is inside. */
export interface Pass {
  /** Another sidecar was replacing the key. */
  hasWaited: boolean
  /**
   * Call it before the message leaves.
   * @throws Refusal `postern_store_unwritable` when another sidecar may be replacing the key
   */
  requireHeld: () => void
  /** Call it when the message was answered or will not leave. */
  leave: () => void
}

/**
 * Sends share a lock of the store. A key replacement acquires it exclusively, after it has raised a
 * flag that keeps new sends out.
 */
export class SendFence implements AsyncDisposable {
  readonly #store: Store
  readonly #id = randomUUID()
  readonly #closings = new Listeners()
  /** Calls back when another sidecar begins to keep sends out. */
  readonly onClosed = this.#closings.add
  #raisedBy: string | null = null
  #inside = 0
  #lock: StoreLock | null = null
  #taking: Promise<StoreLock | null> | null = null
  #timer: NodeJS.Timeout | undefined

  private constructor(store: Store) {
    this.#store = store
  }

  /** @throws Refusal `postern_store_unwritable` */
  static async load(store: Store): Promise<SendFence> {
    const fence = new SendFence(store)
    store.follow('flags', async (db) => {
      const wasClosed = fence.isClosed
      fence.#raisedBy = await readFlag(db, RAISED)
      if (!fence.isClosed) return
      fence.#releaseIfEmpty()
      if (!wasClosed) fence.#closings.emit()
    })
    fence.#raisedBy = await store.read((db) => readFlag(db, RAISED))
    return fence
  }

  /** Whether another sidecar keeps sends out. */
  get isClosed(): boolean {
    return this.#raisedBy !== null && this.#raisedBy !== this.#id
  }

  /** Whether anybody keeps sends out, also this sidecar. */
  get isRaised(): boolean {
    return this.#raisedBy !== null
  }

  /** A send is on its way: begins to acquire the lock, before anything waits for it. */
  expect(): void {
    if (!this.isClosed) this.#share().catch(() => undefined)
  }

  /**
   * Admits a send once no other sidecar replaces the key. The memory of our own keys is fresh then,
   * and stays fresh until the send leaves.
   * @throws Refusal `postern_key_unpublished` after `WAIT_MAX_MS`, `postern_store_unwritable`
   */
  async enter(): Promise<Pass> {
    const untilMs = performance.now() + WAIT_MAX_MS
    for (let hasWaited = false; ; hasWaited = true) {
      const lock = this.isClosed ? null : await this.#share()
      if (lock !== null && lock === this.#lock) return this.#pass(lock, hasWaited)
      if (performance.now() > untilMs) throw new Refusal('postern_key_unpublished')
      if (lock === null) await pause(LOOK_MS)
      await this.#store.fresh()
    }
  }

  /**
   * Keeps sends of other sidecars out, and waits until none is under way. Call it when none of this
   * one is.
   * @returns lets them in again when it is disposed of
   * @throws Refusal `postern_store_unwritable`; the signal's reason
   */
  async close(signal: AbortSignal): Promise<AsyncDisposable> {
    await this.#store.write((db) => writeFlag(db, RAISED, this.#id))
    this.#raisedBy = this.#id
    this.#releaseIfEmpty()
    try {
      const lock = await this.#takeAlone(signal)
      return {
        [Symbol.asyncDispose]: async () => {
          // else the next step of a key begins by reading what this one has published
          if (lock.isHeld) await this.#takeBack(this.#id).catch(() => undefined)
          await lock[Symbol.asyncDispose]()
        },
      }
    } catch (error) {
      await this.#takeBack(this.#id).catch(() => undefined)
      throw error
    }
  }

  /**
   * Lowers a fence that this sidecar raised, or one that has died since. Call it while no other
   * sidecar can be replacing the key.
   * @throws Refusal `postern_store_unwritable`; the next key replacement lowers the fence then
   */
  async lower(): Promise<void> {
    if (this.#raisedBy !== null) await this.#takeBack(this.#raisedBy)
  }

  /** Lowers a fence, unless another sidecar has raised it since. */
  async #takeBack(raisedBy: string): Promise<void> {
    await this.#store.write((db) =>
      db.deleteFrom('flags').where('name', '=', RAISED).where('value', '=', raisedBy).execute(),
    )
    if (this.#raisedBy === raisedBy) this.#raisedBy = null
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer)
    await this.#lock?.[Symbol.asyncDispose]()
  }

  #pass(lock: StoreLock, hasWaited: boolean): Pass {
    this.#inside += 1
    clearTimeout(this.#timer)
    const leave = onlyOnce(() => {
      this.#inside -= 1
      if (this.isClosed) this.#releaseIfEmpty()
      else this.#releaseSoon()
    })
    return { hasWaited, requireHeld: () => requireHeld(lock), leave }
  }

  /** The lock as this sidecar shares it; null while another has it alone. */
  async #share(): Promise<StoreLock | null> {
    if (this.#lock?.isHeld === true) return this.#lock
    this.#taking ??= this.#take().finally(() => (this.#taking = null))
    return await this.#taking
  }

  async #take(): Promise<StoreLock | null> {
    const lost = this.#lock
    this.#lock = null
    await lost?.[Symbol.asyncDispose]()
    // `isFresh`: a key replaced before the lock was acquired is known afterwards
    const lock = await this.#store.tryLock('sends', { isShared: true, isFresh: true })
    if (lock === null) return null
    if (this.isClosed) {
      await lock[Symbol.asyncDispose]()
      return null
    }
    this.#lock = lock
    this.#releaseSoon()
    return lock
  }

  async #takeAlone(signal: AbortSignal): Promise<StoreLock> {
    for (;;) {
      signal.throwIfAborted()
      const lock = await this.#store.tryLock('sends')
      if (lock !== null) return lock
      await pause(LOOK_MS, undefined, { signal })
    }
  }

  #releaseSoon(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#releaseIfEmpty(), KEEP_MS).unref()
  }

  #releaseIfEmpty(): void {
    if (this.#inside > 0) return
    const lock = this.#lock
    this.#lock = null
    void lock?.[Symbol.asyncDispose]()
  }
}

/** @throws Refusal `postern_store_unwritable` when another sidecar may have the lock by now */
function requireHeld(lock: StoreLock | null): void {
  if (lock?.isHeld === true) return
  throw new Refusal('postern_store_unwritable', 'the database is out of reach')
}

/** How long an operator waits for the step of another sidecar. */
export const STEP_WAIT_MS = 60_000

export interface KeyTurnParts {
  store: Pick<Store, 'tryLock' | 'fresh'>
  /** Null where one sidecar alone has the store. */
  fence: SendFence | null
}

/** The right to make a step with the bot's key, which this sidecar has or has not. */
export class KeyTurn {
  readonly #parts: KeyTurnParts
  #lock: StoreLock | null = null

  constructor(parts: KeyTurnParts) {
    this.#parts = parts
  }

  /**
   * Runs a step when no other sidecar runs one, with fresh memory. Afterwards lowers a fence that a
   * dead sidecar left raised, unless the step throws.
   * @returns null, and nothing was done, while another makes one
   * @throws the error of the step; Refusal `postern_store_unwritable`
   */
  async tryStep<T>(step: () => Promise<T>): Promise<{ result: T } | null> {
    const { store, fence } = this.#parts
    await using lock = await store.tryLock('rotation')
    if (lock === null) return null
    await store.fresh()
    this.#lock = lock
    try {
      const result = await step()
      // a sidecar that raised it has died, and the memory includes all that it published
      if (lock.isHeld) await fence?.lower().catch(() => undefined)
      return { result }
    } finally {
      this.#lock = null
    }
  }

  /** The same, after the steps of others. @throws Refusal `postern_busy` after `STEP_WAIT_MS` */
  async step<T>(step: () => Promise<T>): Promise<T> {
    const untilMs = performance.now() + STEP_WAIT_MS
    for (;;) {
      const done = await this.tryStep(step)
      if (done !== null) return done.result
      if (performance.now() > untilMs) throw new Refusal('postern_busy', 'another sidecar’s step')
      await pause(LOOK_MS)
    }
  }

  /** @throws Refusal `postern_store_unwritable` when another sidecar may be making a step by now */
  requireHeld(): void {
    requireHeld(this.#lock)
  }
}
