import { setTimeout as elapsed } from 'node:timers/promises'
import type { Log } from '../logger.ts'
import { Listeners } from '../util/listeners.ts'

/** What an operator must not miss. Holds no secret and nobody's words. */
export interface Alert {
  /** Code of a reason, a warning or an alarm (`TRUST_ALARMS`), `too-many-chats` or `too-many-people`. */
  alert: string
  /** False when it is over. */
  holds: boolean
  /** What is the matter, and what to do about it. */
  what: string
  hint: string
  /** Whom it is about, where it is about somebody; the same of a chat. */
  userId?: number
  chatId?: number
}

/** A way to reach the operator. `send` throws when it failed; `signal` ends the attempt. */
export interface AlertWay {
  name: 'command' | 'url'
  send(alert: Alert & { at: string }, signal: AbortSignal): Promise<void>
}

/** An alert that comes and goes is sent once in this time. */
const QUIET_MS = 600_000
const WAITING = 100
const ATTEMPT_MS = 10_000
const RETRY_AFTER_MS = [1000, 10_000]
/** What stopping waits for. */
const LAST_MS = 3000

/** How one alert ended, by one way: sent, given up, or one too many. */
export interface AlertOutcome {
  way: AlertWay['name']
  outcome: 'told' | 'failed' | 'dropped'
}

export interface AlertParts {
  ways: readonly AlertWay[]
  log: Log
}

/** Sends alerts to the operator, one after the other; nothing waits for it. */
export class Alerts implements AsyncDisposable {
  readonly #parts: AlertParts
  readonly #outcomes = new Listeners<AlertOutcome>()
  readonly #lastMs = new Map<string, number>()
  readonly #end = new AbortController()
  #waiting = 0
  #last: Promise<void> = Promise.resolve()

  constructor(parts: AlertParts) {
    this.#parts = parts
  }

  /** Calls back when an alert has ended, once for each way. */
  onOutcome(listener: (outcome: AlertOutcome) => void): void {
    this.#outcomes.add(listener)
  }

  /** Sends an alert; the same within ten minutes is sent once. Never throws. */
  raise(alert: Alert): void {
    const { ways } = this.#parts
    if (ways.length === 0 || this.#isRepeated(alert)) return
    if (this.#waiting >= WAITING) {
      for (const { name } of ways) this.#outcomes.emit({ way: name, outcome: 'dropped' })
      return
    }
    this.#waiting++
    const dated = { ...alert, at: new Date().toISOString() }
    this.#last = this.#after(this.#last, dated)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.race([this.#last, elapsed(LAST_MS, undefined, { ref: false })])
    this.#end.abort()
  }

  async #after(last: Promise<void>, alert: Alert & { at: string }): Promise<void> {
    await last
    await Promise.all(this.#parts.ways.map((way) => this.#send(way, alert)))
    this.#waiting--
  }

  #isRepeated({ alert, holds, userId, chatId }: Alert): boolean {
    const key = [alert, holds, userId, chatId].join(' ')
    const nowMs = performance.now()
    const isRepeated = nowMs - (this.#lastMs.get(key) ?? -Infinity) < QUIET_MS
    if (!isRepeated) this.#lastMs.delete(key)
    if (!isRepeated) this.#lastMs.set(key, nowMs)
    const [oldest] = this.#lastMs.keys()
    if (this.#lastMs.size > 10_000 && oldest !== undefined) this.#lastMs.delete(oldest)
    return isRepeated
  }

  async #send(way: AlertWay, alert: Alert & { at: string }): Promise<void> {
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
