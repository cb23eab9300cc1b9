import type { Settings } from '../config/settings.ts'
import { VERSION } from '../config/version.ts'
import type { StatusReport } from '../control/reports.ts'
import { iso } from '../control/operation.ts'
import { rotationReport } from '../control/rotation.ts'
import type { Core } from './core.ts'
import type { Link } from './link.ts'
import type { Updates } from './updates.ts'

/** What the sidecar is and how it stands, for `postern status` and `/status`. */
export function describeStatus(
  settings: Settings,
  parts: { link: Link; core: Core; updates: Updates | null; startedAt: string },
): StatusReport {
  const { link, core, updates, startedAt } = parts
  const bot = link.bot()
  const key = core.keyring.active ?? core.keyring.pending
  const chats = core.knownChats.all
  return {
    version: VERSION,
    pid: process.pid,
    startedAt,
    ready: link.health.ready,
    reasons: link.health.reasons(),
    warnings: link.warnings.all(),
    bot:
      bot === null
        ? null
        : {
            id: bot.id,
            username: bot.username ?? '',
            mode: bot.mode,
            fingerprint: bot.fingerprint?.toLowerCase() ?? null,
          },
    key:
      key === undefined
        ? null
        : {
            fingerprint: key.fingerprint,
            state: key.state,
            publishedAt: iso(key.publishedAtMs),
          },
    rotation: rotationReport(core.publication),
    upstream: { url: settings.upstream.url, reachable: link.watch.reachable },
    chats: {
      known: chats.length,
      latched: chats.filter(({ latchedAtMs }) => latchedAtMs !== null).length,
      refused: chats.filter(({ refusedAtMs }) => refusedAtMs !== null).length,
    },
    webhook: webhookOf(updates),
    updates: waitingOf(updates),
    calls: link.ownCalls(),
  }
}

function waitingOf(updates: Updates | null): StatusReport['updates'] {
  const { pending = null, oldestMs = null } = updates?.backlog.state ?? {}
  return {
    waiting: pending,
    oldestSeconds: oldestMs === null ? null : Math.round(oldestMs / 1000),
  }
}

/** Less the path of its url, which may be a secret between the bot and whoever calls it. */
function webhookOf(updates: Updates | null): StatusReport['webhook'] {
  const own = updates?.webhook.own ?? null
  if (own === null) return null
  const { url, failures, lastError, nextAttemptAt } = own
  return {
    origin: new URL(url).origin,
    failures,
    lastError,
    nextAttemptAt: nextAttemptAt === null ? null : new Date(nextAttemptAt).toISOString(),
  }
}
