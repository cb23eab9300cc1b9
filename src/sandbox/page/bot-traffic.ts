import { Listeners } from '../../util/listeners.ts'

/** A call of the bot to its sidecar with the answer, or a delivery of the sidecar to its webhook. */
export interface SidecarExchange {
  kind: 'call' | 'delivery'
  method: string
  /** As on the request line, with the query; of a delivery, nothing. */
  path: string
  /** JSON; empty when there was no body. */
  request: string
  /** 0 when the caller hung up, or nobody received the delivery. */
  status: number
  /** Empty for a file, and for any other answer that is no JSON. */
  answer: string
}

/** A `SidecarExchange` as it was recorded. */
export interface RecordedExchange extends SidecarExchange {
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
  #held: RecordedExchange[] = []
  #characters = 0
  #next = 1

  /** @param o `now` the time of the sandbox's clock, ms since 1970 */
  constructor(o: { botId: number; now: () => number }) {
    this.botId = o.botId
    this.#now = o.now
    this.sinceMs = o.now()
  }

  /** Records an exchange. A poll that gave nothing is passed over. */
  record(exchange: SidecarExchange): void {
    const isPoll = exchange.method === 'GET' && /\/updates(?:\?|$)/.test(exchange.path)
    if (isPoll && (exchange.status === 0 || EMPTY_POLL.test(exchange.answer))) return
    const recorded = { n: this.#next++, at: this.#now(), ...exchange }
    this.#held.push(recorded)
    this.#characters += sizeOf(exchange)
    while (this.#characters > HELD_CHARACTERS && this.#held.length > 1) {
      const [oldest] = this.#held.splice(0, 1)
      if (oldest !== undefined) this.#characters -= sizeOf(oldest)
    }
    this.#recorded.emit(recorded)
  }

  /** Number of the newest exchange; 0 before the first. */
  get last(): number {
    return this.#next - 1
  }

  /** The held exchanges, oldest first; with `after`, only those with greater numbers. */
  list(after = 0): RecordedExchange[] {
    return this.#held.filter(({ n }) => n > after)
  }
}

function sizeOf({ path, request, answer }: SidecarExchange): number {
  return path.length + request.length + answer.length + 200
}
