/** Steps with the bot's key are made by one sidecar at a time. */
import { setTimeout as pause } from 'node:timers/promises'
import { Refusal } from '../../errors.ts'
import type { Store, StoreLock } from '../store.ts'
import type { SendFence } from './send-fence.ts'

/** Interval at which a waiting sidecar tries the lock again. */
const LOOK_MS = 100
/** How long an operator waits for the step of another sidecar. */
export const WAIT_MAX_MS = 60_000

export interface KeyTurnParts {
  store: Pick<Store, 'tryLock' | 'fresh'>
  /** Null where one sidecar alone has the store. */
  fence: SendFence | null
}

/** The right to make a step, which this sidecar has or has not. */
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

  /** The same, after the steps of others. @throws Refusal `postern_busy` after `WAIT_MAX_MS` */
  async step<T>(step: () => Promise<T>): Promise<T> {
    const untilMs = performance.now() + WAIT_MAX_MS
    for (;;) {
      const done = await this.tryStep(step)
      if (done !== null) return done.result
      if (performance.now() > untilMs) throw new Refusal('postern_busy', 'another sidecar’s step')
      await pause(LOOK_MS)
    }
  }

  /** @throws Refusal `postern_store_unwritable` when another sidecar may be making a step by now */
  requireHeld(): void {
    if (this.#lock?.isHeld === true) return
    throw new Refusal('postern_store_unwritable', 'the database is out of reach')
  }
}
