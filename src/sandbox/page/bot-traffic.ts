import type { BotExchange } from '../../api/envelope.ts'
import { sizedCache } from '../../util/caches.ts'
import { Listeners } from '../../util/listeners.ts'

/** A `BotExchange` as it was recorded. */
export interface RecordedExchange extends BotExchange {
  /** Grows by one. */
  n: number
  /** Time of the sandbox's clock, ms since 1970. */
  at: number
}

const HELD_CHARACTERS = 16 * 1024 * 1024
const EMPTY_POLL = /^\{"ok":true,"result":\[\]\}$/

/**
 * The exchanges of a bot and its sidecar, where the sidecar runs in the sandbox's process. The
 * newest 16 MiB are in memory.
 */
export class BotTraffic {
  readonly botId: number
  /** When it began to record, by the sandbox's clock, ms since 1970. */
  readonly sinceMs: number
  readonly #now: () => number
  readonly #recorded = new Listeners<RecordedExchange>()
  /** Calls back with each exchange, until the returned function is called. */
  readonly onRecord = this.#recorded.add
  /** By number. */
  readonly #held = sizedCache<RecordedExchange>(HELD_CHARACTERS)
  #next = 1

  /** @param o `now` the time of the sandbox's clock, ms since 1970 */
  constructor(o: { botId: number; now: () => number }) {
    this.botId = o.botId
    this.#now = o.now
    this.sinceMs = o.now()
  }

  /** Records an exchange. A poll that gave nothing is passed over. */
  record(exchange: BotExchange): void {
    const isPoll = exchange.method === 'GET' && /\/updates(?:\?|$)/.test(exchange.path)
    if (isPoll && (exchange.status === 0 || EMPTY_POLL.test(exchange.answer))) return
    const recorded = { n: this.#next++, at: this.#now(), ...exchange }
    const { path, request, answer } = exchange
    const characters = path.length + request.length + answer.length + 200
    // The newest is held, however large.
    const size = Math.min(characters, HELD_CHARACTERS)
    this.#held.set(String(recorded.n), recorded, { size })
    this.#recorded.emit(recorded)
  }

  /** Number of the newest exchange; 0 before the first. */
  get last(): number {
    return this.#next - 1
  }

  /** The held exchanges, oldest first; with `after`, only those with greater numbers. */
  list(after = 0): RecordedExchange[] {
    return [...this.#held.rvalues()].flatMap((one) =>
      one !== undefined && one.n > after ? one : [],
    )
  }
}
