/**
 * Up to where the bot has confirmed its updates, at any sidecar. An offset is recorded before the
 * service receives it; after a crash in between, the bot or the webhook's poller asks with it again.
 */
import { Refusal } from '../../errors.ts'
import type { Memory, Records } from '../memory.ts'

export class ConfirmedUpdates {
  readonly #memory: Memory
  #heldBelow = 0
  #writtenBelow = 0
  #expected: { below: number; isRaised: Promise<boolean> } | null = null

  constructor(memory: Memory) {
    this.#memory = memory
  }

  /** Ids below it are confirmed, on disk or not. */
  get heldBelow(): number {
    return this.#heldBelow
  }

  /** Begins to record, where nobody but the bot gets updates: `record` then waits for that. */
  expect(below: number): void {
    if (below <= this.#writtenBelow || !this.#memory.isShared) return
    this.#expected = { below, isRaised: this.#raise(below, true).catch(() => false) }
  }

  /**
   * Records that all updates below an id were confirmed. It counts at once; in a store of this process
   * alone a failed write is made up for by the next call.
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
    const expected = this.#expected
    this.#expected = null
    const isExpected = expected?.below === below && (await expected.isRaised)
    if (isExpected || below > this.#writtenBelow) {
      const isRaised = isExpected || (await this.#raise(below))
      this.#writtenBelow = Math.max(this.#writtenBelow, below)
      if (isRaised) return
    }
    if (await this.#memory.read(({ confirmed }) => confirmed.isRecorded(below))) return
    await this.#memory.note(({ confirmed }) => confirmed.settle(below))
  }

  /** @returns whether it is recorded, and none below is counted anew */
  async #raise(below: number, isAlone = false): Promise<boolean> {
    const raise = ({ confirmed }: Records) => confirmed.raise(below, { isAlone })
    return (await this.#memory.note(raise, { isSingle: true }))?.countsAnew === false
  }

  async includes({ confirmed }: Records, updateId: number): Promise<boolean> {
    return updateId < this.#heldBelow || updateId < (await confirmed.below())
  }
}
