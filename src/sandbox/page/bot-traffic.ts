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
export type BotTraffic = ReturnType<typeof createBotTraffic>

/** @param now the time of the sandbox's clock, ms since 1970 */
export function createBotTraffic({ botId, now }: { botId: number; now: () => number }) {
  const recorded = new Listeners<RecordedExchange>()
  /** By number. */
  const held = sizedCache<RecordedExchange>(HELD_CHARACTERS)
  let last = 0
  return {
    botId,
    /** When it began to record, by the sandbox's clock, ms since 1970. */
    sinceMs: now(),
    /** Calls back with each exchange, until the returned function is called. */
    onRecord: recorded.add,

    /** Records an exchange. A poll that gave nothing is passed over. */
    record: (exchange: BotExchange): void => {
      const isPoll = exchange.method === 'GET' && /\/updates(?:\?|$)/.test(exchange.path)
      if (isPoll && (exchange.status === 0 || EMPTY_POLL.test(exchange.answer))) return
      const one = { n: ++last, at: now(), ...exchange }
      const { path, request, answer, headers, answerHeaders } = exchange
      const characters = [path, request, answer, headers, answerHeaders].join('').length + 200
      // The newest is held, however large.
      held.set(String(one.n), one, { size: Math.min(characters, HELD_CHARACTERS) })
      recorded.emit(one)
    },

    /** Number of the newest exchange; 0 before the first. */
    get last(): number {
      return last
    },

    /** The held exchanges, oldest first; with `after`, only those with greater numbers. */
    list: (after = 0): RecordedExchange[] =>
      [...held.rvalues()].flatMap((one) => (one !== undefined && one.n > after ? one : [])),
  }
}
