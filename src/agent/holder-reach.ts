import { Listeners } from '../util/listeners.ts'
import type { HolderState, KeyHolder } from '../openpgp/index.ts'

/** Knows whether a holder answers, and calls back at each change of that. */
export abstract class HolderReach {
  readonly #listeners = new Listeners<HolderState>()
  readonly #known = Promise.withResolvers<void>()
  /** Resolves once the state is known. */
  protected readonly known = this.#known.promise
  #state: HolderState = { isReachable: false, reason: '' }

  /** Without a reason while it is unknown. */
  get state(): HolderState {
    return this.#state
  }

  /** As `KeyHolder.onReachable`. */
  readonly onReachable: KeyHolder['onReachable'] = (listener) => {
    if (this.#state.isReachable || this.#state.reason !== '') listener(this.#state)
    return this.#listeners.add(listener)
  }

  protected answers(): void {
    this.#change({ isReachable: true, reason: '' })
  }

  /** @param reason for people, of one line */
  protected isAway(reason: string): void {
    this.#change({ isReachable: false, reason })
  }

  #change(now: HolderState): void {
    const { isReachable, reason } = this.#state
    this.#state = now
    this.#known.resolve()
    if (now.isReachable !== isReachable || now.reason !== reason) this.#listeners.emit(now)
  }
}
