import { Listeners } from '../util/listeners.ts'

/** Whether the last write worked; tells its listeners when that changes. */
export class Writability {
  readonly #changes = new Listeners<boolean>()
  #isWritable = true

  /** Calls back with false when a write has failed, with true when one works again. */
  onChange(listener: (isWritable: boolean) => void): void {
    this.#changes.add(listener)
  }

  set(isWritable: boolean): void {
    if (isWritable === this.#isWritable) return
    this.#isWritable = isWritable
    this.#changes.emit(isWritable)
  }
}
