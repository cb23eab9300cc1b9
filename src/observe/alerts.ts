import { setTimeout as elapsed } from 'node:timers/promises'
import type { Log } from '../logger.ts'
import { countedCache } from '../util/caches.ts'
import { Listeners } from '../util/listeners.ts'

/** A message that an operator must not miss. Contains no secret and no person's text. */
export interface Alert {
  /** Code of a reason, a warning or an alarm (`TRUST_ALARMS`), `too-many-chats` or `too-many-people`. */
  alert: string
  /** False when it is over. */
  holds: boolean
  /** The problem, and what to do about it. */
  what: string
  hint: string
  /** The person concerned, if any; likewise the chat. */
  userId?: number
  chatId?: number
}

/** An alert as it is sent: `bot` names the bot, where there are several; `at` is ISO 8601 in UTC. */
export type SentAlert = Alert & { at: string; bot?: string }

/** A way to reach the operator. `send` throws when it failed; `signal` ends the attempt. */
export interface AlertWay {
  name: 'command' | 'url'
  send(alert: SentAlert, signal: AbortSignal): Promise<void>
}

/** An alert that begins and ends repeatedly is sent once in this time, with its final state. */
const QUIET_MS = 600_000
const WAITING = 100
/** Those about people and chats: a service can invent both, and must not crowd out the others. */
const WAITING_ABOUT = 50
const REMEMBERED = 10_000
const ATTEMPT_MS = 10_000
const RETRY_AFTER_MS = [1000, 10_000]
/** How long stopping waits for the last alerts. */
const LAST_MS = 3000

/** How one alert ended, by one way: sent, given up, or one too many. */
export type AlertOutcome = { way: AlertWay['name']; outcome: 'told' | 'failed' | 'dropped' }

/** The alert as last sent, and the times of sending, by `performance.now()`. */
interface Sent {
  holds: boolean
  beganMs: number
  endedMs: number
}

export interface AlertParts {
  ways: readonly AlertWay[]
  log: Log
  /** Whose alerts these are, where there are several bots. */
  bot?: string | undefined
}

/** Sends alerts to the operator, one after the other; nothing waits for it. */
export type Alerts = ReturnType<typeof createAlerts>

export function createAlerts({ ways, log, bot }: AlertParts) {
  const outcomes = new Listeners<AlertOutcome>()
  const sent = countedCache<string, Sent>(REMEMBERED)
  /** Alerts to send later, unless the condition has changed by then. */
  const later = new Map<string, NodeJS.Timeout>()
  const end = new AbortController()
  let waiting = 0
  let last: Promise<void> = Promise.resolve()

  /**
   * Sends an alert; the same within ten minutes is sent once. One that has begun or ended again by
   * then is sent at their end. Never throws.
   */
  const raise = (alert: Alert): void => {
    const key = [alert.alert, alert.userId, alert.chatId].join(' ')
    clearTimeout(later.get(key))
    later.delete(key)
    if (ways.length === 0 || end.signal.aborted) return
    const before = sent.peek(key)
    const quietMs = leftOfQuietMs(before, alert.holds)
    if (quietMs === 0) return enqueue(key, alert)
    if (before?.holds === alert.holds) return
    later.set(key, setTimeout(() => raise(alert), quietMs).unref())
  }

  const enqueue = (key: string, alert: Alert): void => {
    const isAbout = alert.userId !== undefined || alert.chatId !== undefined
    if (waiting >= (isAbout ? WAITING_ABOUT : WAITING)) {
      for (const { name } of ways) outcomes.emit({ way: name, outcome: 'dropped' })
      return
    }
    remember(key, alert.holds)
    waiting++
    const at = new Date().toISOString()
    const dated = { ...alert, at, ...(bot !== undefined && { bot }) }
    const sendAll = () => Promise.all(ways.map((way) => send(way, dated)))
    last = last.then(sendAll).then(() => void waiting--)
  }

  const remember = (key: string, holds: boolean): void => {
    const { beganMs = -Infinity, endedMs = -Infinity } = sent.peek(key) ?? {}
    const nowMs = performance.now()
    sent.set(key, holds ? { holds, beganMs: nowMs, endedMs } : { holds, beganMs, endedMs: nowMs })
  }

  const send = async (way: AlertWay, alert: SentAlert): Promise<void> => {
    for (const waitMs of [...RETRY_AFTER_MS, null]) {
      try {
        await way.send(alert, AbortSignal.any([end.signal, AbortSignal.timeout(ATTEMPT_MS)]))
        return outcomes.emit({ way: way.name, outcome: 'told' })
      } catch (error) {
        const reason = error instanceof Error ? error.name : 'unknown'
        if (waitMs === null || end.signal.aborted) {
          log.error({ alert: alert.alert, way: way.name, reason }, 'an alert could not be sent')
          return outcomes.emit({ way: way.name, outcome: 'failed' })
        }
        await elapsed(waitMs, undefined, { signal: end.signal, ref: false }).catch(() => undefined)
      }
    }
  }

  return {
    raise,
    /** Calls back when an alert has ended, once for each way. */
    onOutcome: outcomes.add,
    [Symbol.asyncDispose]: async (): Promise<void> => {
      await Promise.race([last, elapsed(LAST_MS, undefined, { ref: false })])
      end.abort()
      for (const timer of later.values()) clearTimeout(timer)
    },
  }
}

/** How long until the same may be sent again, in ms; 0 when it may now. */
function leftOfQuietMs(sent: Sent | undefined, holds: boolean): number {
  if (sent === undefined) return 0
  const lastMs = holds ? sent.beganMs : sent.endedMs
  return Math.max(0, lastMs + QUIET_MS - performance.now())
}
