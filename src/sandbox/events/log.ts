import { Listeners, nextCall } from '../../util/listeners.ts'
import type { EventBody, SandboxEvent } from './event.ts'

/** How many of the newest events a log holds. */
const HELD_EVENTS = 10_000

/** What a log holds: something with an id and a kind. */
export interface LoggedEvent {
  id: number
  at: number
  kind: string
}

/** A part of the log. */
export interface EventPage<E = SandboxEvent> {
  events: E[]
  /** The id to continue after: that of the newest event that was read. */
  last: number
  /** How many events after `after` are held no longer. */
  missed: number
}

/** Events in order, of which the newest are held. */
export class EventLog<E extends LoggedEvent = SandboxEvent> {
  readonly #held: number
  /** By id modulo `#held`. */
  readonly #ring: E[] = []
  readonly #listeners = new Listeners()
  /** Calls back on every event, until the returned function is called. */
  readonly onAppend = this.#listeners.add
  #last = 0

  /** @param held how many of the newest events to hold */
  constructor(held = HELD_EVENTS) {
    this.#held = held
  }

  /** Id of the newest event; 0 before the first. */
  get last(): number {
    return this.#last
  }

  append(atMs: number, body: EventBody<E>): void {
    const id = ++this.#last
    this.#ring[id % this.#held] = { id, at: atMs, ...body } as unknown as E
    this.#listeners.emit()
  }

  /**
   * Events with greater ids than `after`, oldest first. An `after` above the newest id is of an
   * earlier run: the log is read from its beginning.
   */
  read(after: number, limit = Infinity): EventPage<E> {
    const from = after > this.#last ? 0 : after
    const oldest = Math.max(1, this.#last - this.#held + 1)
    const first = Math.max(from + 1, oldest)
    const end = Math.min(this.#last, first + limit - 1)
    const events: E[] = []
    for (let id = first; id <= end; id++) {
      const event = this.#ring[id % this.#held]
      if (event !== undefined) events.push(event)
    }
    return { events, last: end, missed: first - from - 1 }
  }

  /**
   * The events after an id, then each new one, until the signal is aborted.
   * @throws RangeError when some of them are held no longer
   */
  async *follow(after: number, signal: AbortSignal): AsyncGenerator<E, void, void> {
    let position = after
    while (!signal.aborted) {
      const { events, last, missed } = this.read(position, 1)
      if (missed > 0) throw new RangeError(`${missed} events after ${position} are held no longer`)
      position = last
      if (events[0] === undefined) await nextCall(this.onAppend, signal)
      else yield events[0]
    }
  }
}
