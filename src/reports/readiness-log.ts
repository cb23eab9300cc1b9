/** Log lines of readiness: one at each change, and none that is of no use alone. */
import type { Bot } from '../api/bot.ts'
import type { NoResponseError } from '../errors.ts'
import { fingerprintOf } from '../keys/driver.ts'
import type { Log } from '../logger.ts'
import type { Health, ReasonChange, ReasonCode } from '../observe/health.ts'
import type { Publication } from '../keys/publication.ts'

/** Reasons that somebody must end, or that lose something while they last. */
const ERRORS: ReadonlySet<ReasonCode> = new Set([
  'token',
  'identity',
  'key-conflict',
  'key-expired',
  'bot-unprotected',
  'store',
  'store-rolled-back',
  'key-agent',
  'webhook-failing',
  'outbox-stuck',
  'consumer-behind',
  'updates-expiring',
])
/** Every start and every stop has the first two; the other is logged where a check finds it. */
const UNLOGGED: ReadonlySet<ReasonCode> = new Set(['starting', 'stopping', 'engine-differs'])

export interface ReadinessLogParts {
  health: Pick<Health, 'ready' | 'all'>
  log: Log
  /** As the service last described it; null before that. */
  bot: () => Bot | null
  /** Null when the sidecar manages no key. */
  publication: Pick<Publication, 'remoteKeyState'> | null
}

/**
 * Logs each reason against readiness when it begins (WARN or ERROR, with its hint) and when it
 * ends, and `ready` with bot, mode and key when none is left.
 */
export class ReadinessLog {
  readonly #parts: ReadinessLogParts
  readonly #logged = new Set<ReasonCode>()
  #isReadyLogged = false

  constructor(parts: ReadinessLogParts) {
    this.#parts = parts
  }

  /** A reason began or ended. */
  changed({ code, holds }: ReasonChange): void {
    const { health, log } = this.#parts
    if (!health.ready) this.#isReadyLogged = false
    if (holds && !UNLOGGED.has(code)) {
      this.#logged.add(code)
      const reason = health.all().find((one) => one.code === code)
      const level = ERRORS.has(code) ? 'error' : 'warn'
      log[level]({ reason: code, hint: reason?.hint }, `not ready: ${reason?.message}`)
    } else if (this.#logged.delete(code) && !health.ready) {
      log.info({ reason: code }, 'a reason is over, and others hold')
    }
    this.look()
  }

  /** Something was learned that may make it ready. One answer may end a reason and begin another. */
  look(): void {
    if (!this.#isReadyLogged) setImmediate(() => this.#logIfReady())
  }

  #logIfReady(): void {
    const { health, log, publication } = this.#parts
    const bot = this.#parts.bot()
    const isCompared = publication === null || publication.remoteKeyState !== null
    if (this.#isReadyLogged || !health.ready || bot === null || !isCompared) return
    this.#isReadyLogged = true
    log.info(describeBot(bot), 'ready')
  }
}

/** Not under `bot`, which in a log of several bots is the name that the settings give. */
function describeBot(bot: Bot): { account: string; mode: string; key: string | null } {
  const account = bot.username == null ? String(bot.id) : `@${bot.username}`
  return { account, mode: bot.mode, key: fingerprintOf(bot) }
}

/** The line for a call without a usable answer: the callee, and the cause. */
export function describeNoResponse({ code, detail }: NoResponseError, url: string): string {
  const how = HOW[code] ?? ''
  return `${url}${how}${detail === '' ? '' : ` (${detail})`}`
}

const HOW: Partial<Record<string, string>> = {
  postern_upstream_timeout: ' did not answer in time',
  postern_upstream_invalid: ' answers, but not as the service does',
}
