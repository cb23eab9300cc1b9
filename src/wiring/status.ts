import type { Settings } from '../config/settings.ts'
import { VERSION } from '../config/version.ts'
import type { StatusReport } from '../control/operations.ts'
import type { Core } from './core.ts'
import type { Link } from './link.ts'

/** What the sidecar is and how it stands, for `postern status` and `/status`. */
export function statusOf(
  settings: Settings,
  { link, core, startedAt }: { link: Link; core: Core; startedAt: string },
): StatusReport {
  const bot = link.bot()
  const key = core.keyring.active ?? core.keyring.pending
  const chats = core.facts.all
  return {
    version: VERSION,
    pid: process.pid,
    startedAt,
    ready: link.health.ready,
    reasons: link.health.reasons(),
    bot:
      bot === null
        ? null
        : {
            id: bot.id,
            username: bot.username ?? '',
            mode: bot.mode,
            fingerprint: bot.fingerprint?.toLowerCase() ?? null,
          },
    key: key === undefined ? null : { fingerprint: key.fingerprint, state: key.state },
    upstream: { url: settings.upstream.url, reachable: link.watch.reachable },
    chats: {
      known: chats.length,
      latched: chats.filter(({ latchedAtMs }) => latchedAtMs !== null).length,
      refused: chats.filter(({ refusedAtMs }) => refusedAtMs !== null).length,
    },
    calls: link.spent(),
  }
}
