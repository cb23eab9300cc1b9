/** The two doors of a sidecar, built and not open yet. */
import type { Secrets, Settings } from '../config/settings.ts'
import type { Operations } from '../control/operations.ts'
import { buildAdminDoor } from '../http/admin.ts'
import { chatRoutes } from '../http/routes/chats.ts'
import { mediaRoute } from '../http/routes/media.ts'
import { meRoute } from '../http/routes/me.ts'
import { messageRoutes } from '../http/routes/messages.ts'
import { updateRoutes } from '../http/routes/updates.ts'
import { webhookRoutes } from '../http/routes/webhook.ts'
import { buildBotDoor, type Door } from '../http/server.ts'
import type { Log } from '../logger.ts'
import { Messages } from '../translate/messages.ts'
import type { Core } from './core.ts'
import type { Link } from './link.ts'
import type { Updates } from './updates.ts'

export interface Doors {
  bot: Door
  admin: Door
}

/** Builds both, with every route of the bot's. */
export function buildDoors(
  { settings, secrets, log }: { settings: Settings; secrets: Secrets; log: Log },
  parts: { link: Link; core: Core; updates: Updates; operations: Operations },
): Doors {
  const { link, core, updates, operations } = parts
  const { upstream, metrics, health } = link
  const { webhook, polls, backlog, polled } = updates
  const managesKey = settings.key.publish
  const messages = new Messages({
    outgoing: core.outgoing,
    outcomes: core.outcomes,
    send: (outbound) => upstream.send(outbound),
    edit: (outbound) => upstream.edit(outbound),
    onSealed: ({ chatId, recipients, skipped, ms }) => {
      if (skipped.length > 0) log.warn({ chatId, skipped }, 'sealed, but not to everybody')
      metrics.sealed({ recipients, skipped: skipped.length, ms })
    },
  })
  const bot = buildBotDoor({
    upstream,
    log,
    metrics,
    managesKey,
    expectedToken: () => (secrets.clientToken ?? secrets.botToken).reveal(),
    rereadToken: rereader(secrets),
    allowedHosts: [...settings.listen.allowedHosts, settings.listen.host],
    allowUnknown: settings.routes.allowUnknown,
    onRevoked: () => {
      link.watch.revoked()
      core.publication?.pause()
      webhook.hold()
    },
    routes: [
      messageRoutes({ messages, limits: link.limits, sealsForBot: managesKey }),
      updateRoutes({
        upstream,
        incoming: core.incoming,
        webhook,
        polls,
        backlog,
        onPolled: polled,
      }),
      webhookRoutes({ upstream, webhook, observe: updates.observe }),
      meRoute({ upstream, observe: link.observe, key: () => keyView(core), webhook }),
      chatRoutes({ upstream, facts: core.facts, modes: core.modes, translates: managesKey }),
    ],
    outside: [mediaRoute(core.attachments)],
  })
  const admin = buildAdminDoor({
    log,
    health,
    metrics,
    status: () => operations.status(),
    allowedHosts: [...settings.listen.allowedHosts, settings.admin.host],
  })
  return { bot, admin }
}

const REREAD_EVERY_MS = 1000

/**
 * Reads the bot's token again when its file looks other than before, and once a second in any
 * case, whoever asks at the door. A file is read at once, so what is expected next is what it
 * holds.
 */
function rereader(secrets: Secrets): () => boolean {
  let lastMs = -Infinity
  return () => {
    const source = secrets.clientToken ?? secrets.botToken
    const isRecent = performance.now() - lastMs < REREAD_EVERY_MS
    if (isRecent && !source.looksChanged()) return false
    lastMs = performance.now()
    void source.reload()
    return true
  }
}

/** Our key as `/me` shows it to the bot; null when the sidecar manages none. */
function keyView({
  publication,
  keyring,
}: Core): { state: string; fingerprint: string | null } | null {
  if (publication === null) return null
  const key = keyring.active ?? keyring.pending
  return { state: publication.state, fingerprint: key?.fingerprint ?? null }
}

/** Opens both. @returns where they really listen @throws OperatorError `listen` */
export async function openDoors(
  settings: Settings,
  doors: Doors,
): Promise<{ bot: string; admin: string }> {
  const { host, port, socket } = settings.listen
  return {
    bot: await doors.bot.listen(
      socket === undefined ? { setting: 'listen', host, port } : { setting: 'listen', socket },
    ),
    admin: await doors.admin.listen({ setting: 'admin', ...settings.admin }),
  }
}
