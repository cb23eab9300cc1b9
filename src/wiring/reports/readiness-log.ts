/** Log lines of readiness: one at each change, and none that is of no use alone. */
import type { Bot } from '../../api/bot.ts'
import type { NoResponseError } from '../../errors.ts'
import { fingerprintOf } from '../../keys/driver.ts'
import type { Log } from '../../logger.ts'
import type { Health, ReasonChange, ReasonCode } from '../../observe/health.ts'
import type { Publication } from '../../keys/publication.ts'

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
export function readinessLog({ health, log, bot, publication }: ReadinessLogParts) {
  const logged = new Set<ReasonCode>()
  let isReadyLogged = false
  const logIfReady = (): void => {
    const shown = bot()
    const isCompared = publication === null || publication.remoteKeyState !== null
    if (isReadyLogged || !health.ready || shown === null || !isCompared) return
    isReadyLogged = true
    log.info(describeBot(shown), 'ready')
  }
  /** Something was learned that may make it ready. One answer may end a reason and begin another. */
  const look = (): void => {
    if (!isReadyLogged) setImmediate(logIfReady)
  }
  /** A reason began or ended. */
  const changed = ({ code, holds }: ReasonChange): void => {
    if (!health.ready) isReadyLogged = false
    if (holds && !UNLOGGED.has(code)) {
      logged.add(code)
      const reason = health.all().find((one) => one.code === code)
      const level = ERRORS.has(code) ? 'error' : 'warn'
      log[level]({ reason: code, hint: reason?.hint }, `not ready: ${reason?.message}`)
    } else if (logged.delete(code) && !health.ready) {
      log.info({ reason: code }, 'a reason is over, and others hold')
    }
    look()
  }
  return { changed, look }
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
