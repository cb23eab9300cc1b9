/**
 * Up to where the bot has confirmed its updates, at whichever sidecar: what is known and below
 * it never happens again. An offset is recorded before the service gets it. A crash in between costs
 * nothing: the bot, or the webhook's poller, asks with the same offset again, for what is not below it.
 */
import { Refusal } from '../../errors.ts'
import type { Memory, Records } from '../memory.ts'

export class ConfirmedUpdates {
  readonly #memory: Memory
  #heldBelow = 0
  #writtenBelow = 0

  constructor(memory: Memory) {
    this.#memory = memory
  }

  /** Ids below it are confirmed, whatever is written. */
  get heldBelow(): number {
    return this.#heldBelow
  }

  /**
   * Records that all updates below an id were confirmed; on disk when it resolves. Writes nothing
   * where that is known. A store of this process alone that cannot be written holds nothing up: the
   * id counts here at once, and is written with the next call.
   * @throws Refusal `postern_store_unwritable` when other sidecars cannot learn of it
   */
  async record(below: number): Promise<void> {
    if (below <= 0) return
    this.#heldBelow = Math.max(this.#heldBelow, below)
    try {
      await this.#write(below)
    } catch (error) {
      const isUnwritable = error instanceof Refusal && error.code === 'postern_store_unwritable'
      if (!isUnwritable || this.#memory.isShared) throw error
    }
  }

  async #write(below: number): Promise<void> {
    if (below > this.#writtenBelow) {
      const raising = this.#memory.note(({ confirmed }) => confirmed.raise(below), {
        isSingle: true,
      })
      const raised = await raising
      this.#writtenBelow = below
      if (raised?.countsAnew === false) return
    }
    if (await this.#memory.read(({ confirmed }) => confirmed.isRecorded(below))) return
    await this.#memory.note(({ confirmed }) => confirmed.settle(below))
  }

  /** Whether an update of this id was confirmed. */
  async includes({ confirmed }: Records, updateId: number): Promise<boolean> {
    return updateId < this.#heldBelow || updateId < (await confirmed.below())
  }
}
