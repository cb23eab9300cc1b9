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
export class Alerts implements AsyncDisposable {
  readonly #parts: AlertParts
  readonly #outcomes = new Listeners<AlertOutcome>()
  /** Calls back when an alert has ended, once for each way. */
  readonly onOutcome = this.#outcomes.add
  readonly #sent = countedCache<string, Sent>(REMEMBERED)
  /** Alerts to send later, unless the condition has changed by then. */
  readonly #later = new Map<string, NodeJS.Timeout>()
  readonly #end = new AbortController()
  #waiting = 0
  #last: Promise<void> = Promise.resolve()

  constructor(parts: AlertParts) {
    this.#parts = parts
  }

  /**
   * Sends an alert; the same within ten minutes is sent once. One that has begun or ended again by
   * then is sent at their end. Never throws.
   */
  raise(alert: Alert): void {
    const { ways } = this.#parts
    const key = [alert.alert, alert.userId, alert.chatId].join(' ')
    clearTimeout(this.#later.get(key))
    this.#later.delete(key)
    if (ways.length === 0 || this.#end.signal.aborted) return
    const sent = this.#sent.peek(key)
    const quietMs = leftOfQuietMs(sent, alert.holds)
    if (quietMs === 0) return this.#enqueue(key, alert)
    if (sent?.holds === alert.holds) return
    this.#later.set(key, setTimeout(() => this.raise(alert), quietMs).unref())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.race([this.#last, elapsed(LAST_MS, undefined, { ref: false })])
    this.#end.abort()
    for (const timer of this.#later.values()) clearTimeout(timer)
  }

  #enqueue(key: string, alert: Alert): void {
    const isAbout = alert.userId !== undefined || alert.chatId !== undefined
    if (this.#waiting >= (isAbout ? WAITING_ABOUT : WAITING)) {
      for (const { name } of this.#parts.ways) {
        this.#outcomes.emit({ way: name, outcome: 'dropped' })
      }
      return
    }
    this.#remember(key, alert.holds)
    this.#waiting++
    const { bot } = this.#parts
    const at = new Date().toISOString()
    const dated = { ...alert, at, ...(bot !== undefined && { bot }) }
    const send = () => Promise.all(this.#parts.ways.map((way) => this.#send(way, dated)))
    this.#last = this.#last.then(send).then(() => void this.#waiting--)
  }

  #remember(key: string, holds: boolean): void {
    const { beganMs = -Infinity, endedMs = -Infinity } = this.#sent.peek(key) ?? {}
    const nowMs = performance.now()
    this.#sent.set(
      key,
      holds ? { holds, beganMs: nowMs, endedMs } : { holds, beganMs, endedMs: nowMs },
    )
  }

  async #send(way: AlertWay, alert: SentAlert): Promise<void> {
    const { log } = this.#parts
    const end = this.#end.signal
    for (const waitMs of [...RETRY_AFTER_MS, null]) {
      try {
        await way.send(alert, AbortSignal.any([end, AbortSignal.timeout(ATTEMPT_MS)]))
        return this.#outcomes.emit({ way: way.name, outcome: 'told' })
      } catch (error) {
        const reason = error instanceof Error ? error.name : 'unknown'
        if (waitMs === null || end.aborted) {
          log.error({ alert: alert.alert, way: way.name, reason }, 'an alert could not be sent')
          return this.#outcomes.emit({ way: way.name, outcome: 'failed' })
        }
        await elapsed(waitMs, undefined, { signal: end, ref: false }).catch(() => undefined)
      }
    }
  }
}

/** How long until the same may be sent again, in ms; 0 when it may now. */
function leftOfQuietMs(sent: Sent | undefined, holds: boolean): number {
  if (sent === undefined) return 0
  const lastMs = holds ? sent.beganMs : sent.endedMs
  return Math.max(0, lastMs + QUIET_MS - performance.now())
}
