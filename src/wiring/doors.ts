/** The doors of a sidecar, built and not open yet. */
import { recordRequest } from '../observe/record.ts'
import { presentedToken } from '../config/read-one.ts'
import type { ProcessSettings, Secrets, Settings } from '../config/settings.ts'
import { buildAdminDoor, type AdminDoorParts } from '../http/admin.ts'
import { chatRoutes } from '../http/routes/chats.ts'
import { mediaRoute } from '../http/routes/media.ts'
import { outboxRoute, type OutboxDoor } from '../http/routes/outbox.ts'
import { meRoute } from '../http/routes/me.ts'
import { messageRoutes } from '../http/routes/messages.ts'
import { updateRoutes } from '../http/routes/updates.ts'
import { webhookRoutes } from '../http/routes/webhook.ts'
import type { DoorTls } from '../http/door-tls.ts'
import type { BotDoorEvents, BotDoorParts, Door } from '../http/server.ts'
import type { Log } from '../logger.ts'
import type { Core } from './core.ts'
import type { Link, HandedInParts } from './link.ts'
import type { Updates } from './updates.ts'

export interface Doors {
  bot: Door
  admin: Door
}

/** The parts of a bot's door, with every route of the bot's. */
export function describeBotDoor(
  options: { settings: Settings; secrets: Secrets; log: Log; parts?: HandedInParts },
  parts: { link: Link; core: Core; updates: Updates; outbox: OutboxDoor },
): BotDoorParts {
  const { settings, secrets, log } = options
  const { link, core, updates, outbox } = parts
  const { upstream } = link
  const { webhook } = updates
  const managesKey = settings.key.publish
  return {
    ...botDoorEvents(link, core, updates),
    upstream,
    log,
    onExchange: options.parts?.onBotExchange,
    managesKey,
    expectedToken: () => presentedToken(secrets).reveal(),
    rereadToken: createTokenReader(secrets),
    allowedHosts: botHosts(settings),
    tls: doorTls(settings),
    clearFields: core.clearFields,
    guard: core.guard,
    clients: doorClients(core, settings),
    outbox,
    allowUnknown: settings.routes.allowUnknown,
    routes: [
      messageRoutes({
        messages: core.messages,
        limits: link.limits,
        sealsForBot: managesKey,
        clients: core.known.clients,
        outbox,
      }),
      updateRoutes(updates.botPolls),
      webhookRoutes({ upstream, webhook, onServiceWebhook: updates.noteServiceWebhook }),
      meRoute({ upstream, observe: link.observe, key: () => describeKey(core), webhook }),
      chatRoutes({
        upstream,
        knownChats: core.knownChats,
        modes: core.modes,
        translates: managesKey,
      }),
    ],
    outside: [mediaRoute(core.attachments), outboxRoute(outbox)],
  }
}

const doorClients = ({ known, presses, clientShares }: Core, { clients }: Settings) => ({
  of: known.clients,
  presses,
  shares: clientShares,
  only: clients.only,
})

/** The callbacks of the bot's door. */
const botDoorEvents = (
  { metrics, watch, noteWork }: Link,
  { publication }: Core,
  { webhook, consumers }: Updates,
): BotDoorEvents => ({
  onAnswered: (line) => {
    recordRequest(metrics, line)
    if (line.method !== 'GET') noteWork()
  },
  // The bot burnt its token: nothing is asked until a call works again.
  onTokenRevoked: () => {
    watch.revoked()
    publication?.pause()
    webhook.hold()
    consumers.hold()
  },
})

/** Host names beside the loopback ones that bots may use. */
export const botHosts = ({ listen }: ProcessSettings): string[] => [
  ...listen.allowedHosts,
  listen.host,
]

/** The TLS of bots' doors; undefined: plain HTTP. */
export function doorTls({ listen }: ProcessSettings): DoorTls | undefined {
  const { tlsCertFile: certFile, tlsKeyFile: keyFile, tlsClientCaFile: clientCaFile } = listen
  if (certFile === undefined || keyFile === undefined) return undefined
  return { certFile, keyFile, clientCaFile }
}

/** Builds the door of probes and metrics. */
export function createAdminDoor(
  { settings, log }: { settings: ProcessSettings; log: Log },
  parts: Pick<AdminDoorParts, 'metrics' | 'readiness' | 'status'>,
): Door {
  const { admin, listen } = settings
  const allowedHosts = [...(admin.allowedHosts ?? listen.allowedHosts), admin.host]
  return buildAdminDoor({ log, allowedHosts, ...parts })
}

const REREAD_EVERY_MS = 1000

/**
 * Reads the bot's token again when its file's metadata changed, and once a second in any case. A
 * file is read synchronously, so that the next comparison uses its content.
 */
function createTokenReader(secrets: Secrets): () => boolean {
  let lastMs = -Infinity
  return () => {
    const source = presentedToken(secrets)
    const isRecent = performance.now() - lastMs < REREAD_EVERY_MS
    if (isRecent && !source.looksChanged()) return false
    lastMs = performance.now()
    // oxlint-disable-next-line typescript/no-floating-promises -- `reload` reads the file at once, and never rejects
    void source.reload()
    return true
  }
}

/** Our key as `/me` shows it to the bot; null when the sidecar manages none. */
function describeKey({ publication, keyring }: Core) {
  if (publication === null) return null
  const key = keyring.active ?? keyring.pending
  return { state: publication.state, fingerprint: key?.fingerprint ?? null }
}

/** Opens both. @returns where they really listen @throws OperatorError `listen` */
export async function openDoors(settings: ProcessSettings, doors: Doors) {
  const { host, port, socket } = settings.listen
  return {
    bot: await doors.bot.listen(
      socket === undefined ? { setting: 'listen', host, port } : { setting: 'listen', socket },
    ),
    admin: await doors.admin.listen({ setting: 'admin', ...settings.admin }),
  }
}
