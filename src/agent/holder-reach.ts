import { Listeners } from '../util/listeners.ts'
import type { HolderState, KeyHolder } from '../openpgp/index.ts'

/** Whether a holder answers, and who is called at each change of that. */
export class HolderReach {
  readonly #listeners = new Listeners<HolderState>()
  readonly #known = Promise.withResolvers<void>()
  #state: HolderState = { isReachable: false, reason: '' }

  /** Without a reason while it is unknown. */
  get state(): HolderState {
    return this.#state
  }

  /** Resolves once the state is known. */
  get known(): Promise<void> {
    return this.#known.promise
  }

  /** As `KeyHolder.onReachable`. */
  readonly onChange: KeyHolder['onReachable'] = (listener) => {
    if (this.#state.isReachable || this.#state.reason !== '') listener(this.#state)
    return this.#listeners.add(listener)
  }

  answers(): void {
    this.#change({ isReachable: true, reason: '' })
  }

  /** @param reason for people, of one line */
  isAway(reason: string): void {
    this.#change({ isReachable: false, reason })
  }

  #change(now: HolderState): void {
    const { isReachable, reason } = this.#state
    this.#state = now
    this.#known.resolve()
    if (now.isReachable !== isReachable || now.reason !== reason) this.#listeners.emit(now)
  }
}
