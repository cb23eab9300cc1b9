/** The listeners to one event, called in the order in which they were added. */
export class Listeners<Event = void> {
  readonly #listeners: ((event: Event) => void)[] = []

  /** @param listener must not throw */
  add(listener: (event: Event) => void): void {
    this.#listeners.push(listener)
  }

  emit(event: Event): void {
    for (const listener of this.#listeners) listener(event)
  }
}
