/** The link to the service: the upstream door, calls of our own, and the bot's description. */
import { readFileSync } from 'node:fs'
import { Bot, botIdOf } from '../api/bot.ts'
import { LIMITS, readLimits, type Limits } from '../api/limits.ts'
import { isObject } from '../api/common.ts'
import type { Secrets, Settings } from '../config/settings.ts'
import { OperatorError, NoResponseError } from '../errors.ts'
import { type Time, type Unseen, unobserved } from '../kernel/index.ts'
import type { Log } from '../logger.ts'
import { createAlerts, type AlertParts } from '../observe/alerts.ts'
import { Health } from '../observe/health.ts'
import { Metrics } from '../observe/metrics.ts'
import { ServiceWatch } from '../observe/service-watch.ts'
import { createWarnings } from '../observe/warnings.ts'
import { UpstreamClient, type Upstream, type UpstreamEvents } from '../service/client.ts'
import { Listeners } from '../util/listeners.ts'
import type { BotExchange } from '../api/envelope.ts'
import type { MeasuredEngine } from '../openpgp/index.ts'
import type { PostgresServer } from '../store/postgres/server.ts'
import type { Store } from '../store/store.ts'
import type { Stretcher } from '../store/stretcher.ts'
import { SYSTEM_TIME, type Clock } from '../util/clock.ts'
import type { CallLater } from '../util/shared-timers.ts'

/** The part of the bot's calls that may be spent on calls of our own. */
const OWN_SHARE = 0.5

/** That of all clients of the door together; of all calls but ours, where only they call. */
const CLIENT_SHARE = 0.25

/** Time limit of a look-up that a send or an update waits for. */
export const LOOKUP_MS = 8000

/** Time limit of the watch's `/me`: with its wait below the 15 s by which readiness may lag. */
export const PROBE_MS = 4000

/** A publication, for which sends wait. */
export const PUBLISH_MS = 10_000

/** The link to the service. Its listeners are in `subscriptions.ts`. */
export type Link = ReturnType<typeof createLink>

/**
 * Makes the link; no call is made before the first is asked for.
 * @param o `ways` by which alerts reach the operator; `bot` its name, where there are several;
 *   `metrics` where they are kept; `time` is that of this machine by default; `later` as of `HandedInParts`
 */
export function createLink(
  settings: Settings,
  secrets: Secrets,
  o: AlertParts & Pick<HandedInParts, 'metrics' | 'time' | 'later'>,
) {
  let sidecars = 1
  let ownCalls = { usedLastMinute: 0, limit: 0 }
  const { time = SYSTEM_TIME, metrics = new Metrics() } = o
  const { read, ...bot } = describedBot(botIdOf(secrets.botToken.reveal()))
  const partOf = (share: number): number =>
    Math.floor((bot.limits().apiCallsPerMinute * share) / sidecars)
  const upstreamListeners: Partial<UpstreamEvents>[] = [{ budget: (used) => (ownCalls = used) }]
  const health = new Health()
  const upstream: Upstream = new UpstreamClient({
    ...reached(settings.upstream),
    token: secrets.botToken,
    ownCallsPerMinute: () => partOf(OWN_SHARE),
    events: forwardTo(upstreamListeners),
  })
  const alerts = createAlerts(o)
  const watch = new ServiceWatch(health, time, o.later)
  return {
    /** Base URL of the service. */
    url: settings.upstream.url,
    time,
    upstream,
    health,
    warnings: createWarnings(),
    metrics,
    alerts,
    watch,
    calls: callsOf(upstream, read, watch),
    ...bot,
    /** Divides the calls of our own among so many sidecars of the bot. */
    shareCalls: (count: number): void => void (sidecars = count),
    /** Calls a minute that all clients of the door may cause here. */
    callsOfClients: () => partOf(settings.clients.only ? 1 - OWN_SHARE : CLIENT_SHARE),
    /** Calls of our own in the last minute, and how many there may be. */
    ownCalls: () => ownCalls,
    /** The bot sends or receives: it is not at rest, and how late the event loop is counts for a while. */
    noteWork: (): void => {
      metrics.registry.noteWork()
      watch.noteTraffic()
    },
    /** Adds a listener to events of calls. */
    onUpstream: (listener: Partial<UpstreamEvents>): void => void upstreamListeners.push(listener),
    async [Symbol.asyncDispose](): Promise<void> {
      watch[Symbol.dispose]()
      await alerts[Symbol.asyncDispose]()
      await upstream[Symbol.asyncDispose]()
    },
  }
}

type CallOptions = Pick<Parameters<Upstream['ask']>[0], 'deadlineMs' | 'isCheck'>

/** Calls of our own. */
function callsOf(upstream: Upstream, read: BotReader, watch: ServiceWatch) {
  const get = async (path: string, how: CallOptions = {}): Promise<Unseen> =>
    await upstream.ask({ method: 'GET', path, deadlineMs: LOOKUP_MS, ...how })
  const me = async (deadlineMs: number): Promise<Bot> => {
    const { described } = read(await get('/me', { deadlineMs, isCheck: watch.isAtRest() }))
    if (described === null) throw new NoResponseError('postern_upstream_invalid', 'a bot')
    return described
  }
  return {
    me: () => me(Infinity),
    /** The same, given up after seconds: for the watch, which must know soon. */
    probe: () => me(PROBE_MS),
    chat: (chatId: number) => get(`/chats/${chatId}`),
    chatKeys: (chatId: number) => get(`/chats/${chatId}/keys`),
    userKey: (userId: number) => get(`/users/${userId}/key`),
    putKey: async (
      key: { publicKey: string; fingerprint: string },
      requireAllowed = (): void => {},
    ): Promise<void> => {
      const call = { method: 'PUT', path: '/key', body: JSON.stringify(key) } as const
      const isCheck = watch.isAtRest()
      await upstream.ask({ ...call, deadlineMs: PUBLISH_MS, requireAllowed, isCheck })
    },
  }
}

type BotReader = ReturnType<typeof describedBot>['read']

/**
 * The bot as the service describes it.
 * @param idOfToken null for a token that names none
 */
function describedBot(idOfToken: number | null) {
  let known: Bot | null = null
  let limits: Limits = { ...LIMITS }
  /** A token that is read again later does not turn this store's bot into another. */
  let id = idOfToken
  const descriptions = new Listeners<Bot>()
  const identifications = new Listeners<boolean>()

  /**
   * Reads a `/me`.
   * @returns its content, and the bot that it describes, if it does
   * @throws NoResponseError `postern_upstream_invalid` when it is another bot's
   */
  const read = (answer: Unseen): { result: unknown; described: Bot | null } => {
    const result = unobserved(answer)
    if (isObject(result) && 'id' in result && id !== null) {
      const isOurs = result['id'] === id
      identifications.emit(isOurs)
      if (!isOurs) throw new NoResponseError('postern_upstream_invalid', 'the bot of another token')
    }
    const { data: described = null } = Bot.safeParse(result)
    if (described === null) return { result, described }
    known = described
    id = described.id
    limits = readLimits(described.limits)
    descriptions.emit(described)
    return { result, described }
  }

  return {
    read,
    /** The last `/me`; null before the first. */
    bot: () => known,
    /** By the token; without a token of the spec's shape, by the first `/me`. */
    botId: () => id,
    /** Sets the store's bot: a `/me` of another is refused, also when the token has no bot id. */
    expectBot: (botId: number): void => void (id ??= botId),
    limits: () => limits,
    /**
     * Uses a `/me` that the bot asked for.
     * @returns its content
     * @throws NoResponseError `postern_upstream_invalid` when it is another bot's
     */
    observe: (answer: Unseen): unknown => read(answer).result,
    /** Calls back with every `/me` of our bot. */
    onBot: descriptions.add,
    /** Calls back with whether a `/me` is of the bot of our token. */
    onIdentified: identifications.add,
  }
}

const forwardTo = (listeners: readonly Partial<UpstreamEvents>[]): UpstreamEvents => ({
  answered: (answer) => listeners.forEach((one) => one.answered?.(answer)),
  unreachable: (error) => listeners.forEach((one) => one.unreachable?.(error)),
  unauthorized: () => listeners.forEach((one) => one.unauthorized?.()),
  paused: () => listeners.forEach((one) => one.paused?.()),
  clock: (skewMs) => listeners.forEach((one) => one.clock?.(skewMs)),
  budget: (used) => listeners.forEach((one) => one.budget?.(used)),
})

/** Where the service is, and by which way. */
const reached = ({ caFile, url: baseUrl, proxy }: Settings['upstream']) => ({
  baseUrl,
  proxy,
  ...(caFile === undefined ? {} : { ca: readCa(caFile) }),
})

function readCa(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new OperatorError(
      'settings',
      `upstream.caFile cannot be read: ${file}`,
      'name a file of PEM certificates that this user may read',
      { cause },
    )
  }
}

/** A bot's settings, and the parts that are handed in. */
export interface BotOptions {
  settings: Settings
  secrets: Secrets
  log: Log
  /** Its name, where there are several. */
  name?: string
  /** False where there was a store before, which a new one must not replace. */
  mayCreateStore?: boolean
  parts?: HandedInParts
}

/**
 * Parts of a sidecar that can be supplied, each in place of the usual one. The caller disposes of
 * them, after the sidecar.
 */
export interface HandedInParts {
  engine?: MeasuredEngine
  /** An open store; settings of the data directory and its protection are then ignored. */
  store?: Store
  /** A store that is being opened by the settings (`beginOpening`). */
  opening?: Promise<Store> | undefined
  /** Where passphrases are stretched for several stores. */
  stretcher?: Stretcher
  /** The database of several bots; null when their stores are in folders. */
  database?: PostgresServer | null
  link?: Link
  /** Where its metrics are, beside those of other bots. */
  metrics?: Metrics | undefined
  /** The name of another bot of the process that has a key of this fingerprint. */
  ownerOf?: (fingerprint: string) => string | null
  /** The time, such as that of a sandbox; its monotonic clock is that of this machine. */
  time?: Time | undefined
  /** The time, as deliveries to the webhook know it. */
  clock?: Clock
  /** Timers of what may be a second late, which bots at rest share; each has its own by default. */
  later?: CallLater | undefined
  /** Finds the addresses of a webhook's host. */
  resolveHost?: (host: string) => Promise<string[]>
  /**
   * Called with everything that passes between the bot and the sidecar, words and all. For `demo`
   * and `dev`, which show it.
   */
  onBotExchange?: (exchange: BotExchange) => void
}
