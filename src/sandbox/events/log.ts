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
  readonly #newest: E[] = []
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
    this.#newest.push({ id, at: atMs, ...body } as unknown as E)
    if (id > this.#held) this.#newest.shift()
    this.#listeners.emit()
  }

  /**
   * Events with greater ids than `after`, oldest first. An `after` above the newest id is of an
   * earlier run: the log is read from its beginning.
   */
  read(after: number, limit = Infinity): EventPage<E> {
    const from = after > this.#last ? 0 : after
    const missed = Math.max(0, this.#last - this.#held - from)
    const first = Math.max(0, from - (this.#last - this.#newest.length))
    const events = this.#newest.slice(first, first + limit)
    return { events, last: from + missed + events.length, missed }
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
