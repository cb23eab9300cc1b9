/** The listeners to one event, called in the order in which they were added. */
export class Listeners<Event = void> {
  #listeners: readonly ((event: Event) => void)[] = []

  /**
   * Calls back on every event, until the returned function is called. Bound, so that a class can
   * offer it as its own `onX`.
   * @param listener must not throw
   */
  readonly add = (listener: (event: Event) => void): (() => void) => {
    this.#listeners = [...this.#listeners, listener]
    return () => {
      this.#listeners = this.#listeners.filter((one) => one !== listener)
    }
  }

  /** Calls back with an event. Bound, so that it can be handed on as a listener. */
  readonly emit = (event: Event): void => {
    for (const listener of this.#listeners) listener(event)
  }
}

/**
 * Resolves at the next call of a listener, or when the signal is aborted.
 * @param subscribe adds the listener, and gives a function that removes it
 */
export function nextCall(
  subscribe: (listener: () => void) => () => void,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const done = (): void => {
      unsubscribe()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const unsubscribe = subscribe(done)
    signal.addEventListener('abort', done)
  })
}
