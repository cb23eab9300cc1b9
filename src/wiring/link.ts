/** The service as the rest knows it: the upstream door, the calls of our own, what they told. */
import { readFileSync } from 'node:fs'
import { Bot } from '../api/bot.ts'
import { LIMITS, readLimits, type Limits } from '../api/limits.ts'
import { isObject } from '../api/common.ts'
import { botIdOf } from '../api/token.ts'
import type { Secrets, Settings } from '../config/settings.ts'
import { OperatorError, NoResponseError } from '../errors.ts'
import type { Log } from '../logger.ts'
import { Alerts, type AlertWay } from '../observe/alerts.ts'
import { Health, type ReasonCode } from '../observe/health.ts'
import { Metrics } from '../observe/metrics.ts'
import { recordNoUpstreamAnswer, recordOwnCalls, recordUpstreamAnswer } from '../observe/record.ts'
import { showHealth } from '../observe/show.ts'
import { ServiceWatch } from '../observe/service-watch.ts'
import { batchPerTick } from '../util/batch-per-tick.ts'
import { createUpstream, type Upstream } from '../upstream/client.ts'
import { alertOfReason } from './alerting.ts'

/** The part of the bot's calls that may be spent on calls of our own. */
const OWN_SHARE = 0.5

/** A look-up that a send or an update waits for. */
const LOOKUP_MS = 8000

/** A publication, for which sends wait. */
const PUBLISH_MS = 10_000

/** The link to the service, with what is known of the bot from it. */
export interface Link extends AsyncDisposable {
  upstream: Upstream
  health: Health
  metrics: Metrics
  alerts: Alerts
  watch: ServiceWatch
  calls: {
    me: () => Promise<Bot>
    chat: (chatId: number) => Promise<unknown>
    chatKeys: (chatId: number) => Promise<unknown>
    userKey: (userId: number) => Promise<unknown>
    putKey: (key: { publicKey: string; fingerprint: string }) => Promise<void>
  }
  /** The last `/me`; null before the first. */
  bot: () => Bot | null
  /** As the token says; without a token of the spec's shape, as the first `/me` said. */
  botId: () => number | null
  limits: () => Limits
  /** Calls of our own in the last minute, and how many there may be. */
  spent: () => { usedLastMinute: number; limit: number }
  /**
   * Takes in a `/me` that the bot asked for.
   * @throws NoResponseError `postern_upstream_invalid` when it is another bot's
   */
  observe: (result: unknown) => void
  /** Is told every `/me`. */
  onBot(listener: (bot: Bot) => void): void
  /** Is told when a call works again after the token was burnt. */
  onRevived(listener: () => void): void
  /** Is told when a reason for not being ready is gone. */
  onCleared(listener: (code: ReasonCode) => void): void
  /** Is asked for a write while the data directory could not be written. */
  onStoreTrial(trial: () => Promise<unknown>): void
}

/**
 * Makes the link; no call is made before the first is asked for.
 * @param o `ways` tell the operator what must not be missed
 */
export function createLink(
  settings: Settings,
  secrets: Secrets,
  { log, ways }: { log: Log; ways: readonly AlertWay[] },
): Link {
  let known: Bot | null = null
  // a token that is read again later does not turn this store's bot into another
  let identity = botIdOf(secrets.botToken.reveal())
  let limits: Limits = { ...LIMITS }
  let spent = { usedLastMinute: 0, limit: 0 }
  const listeners: ((bot: Bot) => void)[] = []
  let storeTrial: () => Promise<unknown> = () => Promise.resolve()
  const revived: (() => void)[] = []
  const cleared: ((code: ReasonCode) => void)[] = []
  const health = new Health((change) => {
    const alert = alertOfReason(change)
    if (alert !== null) alerts.raise(alert)
    if (!change.holds) for (const listener of cleared) listener(change.code)
  })
  const metrics = new Metrics()
  showHealth(metrics, health)
  const alerts = new Alerts({
    ways,
    log,
    told: (alert) =>
      metrics.count('postern_alerts_total', { way: alert.way, outcome: alert.outcome }),
  })
  const watch = new ServiceWatch({
    health,
    ask: () => me(),
    tryStore: () => storeTrial(),
    revived: () => revived.forEach((listener) => listener()),
  })
  const count = batchPerTick((answer: Parameters<typeof recordUpstreamAnswer>[1]) =>
    recordUpstreamAnswer(metrics, answer),
  )
  const { caFile, url, proxy } = settings.upstream
  const upstream = createUpstream({
    baseUrl: url,
    ...(caFile === undefined ? {} : { ca: readCa(caFile) }),
    proxy,
    token: secrets.botToken,
    ownCallsPerMinute: () => Math.floor(limits.apiCallsPerMinute * OWN_SHARE),
    events: {
      answered: (answer) => {
        watch.answered(answer)
        count(answer)
      },
      unreachable: (code) => {
        watch.unreachable(code)
        recordNoUpstreamAnswer(metrics, code)
      },
      unauthorized: () => watch.unauthorized(),
      paused: () => watch.paused(),
      working: () => {},
      clock: (skewMs) => watch.clock(skewMs),
      budget: (used) => {
        spent = used
        recordOwnCalls(metrics, used)
      },
    },
  })

  /** Who the bot is, its token says: nothing is taken in of a `/me` that says otherwise. */
  function identify(result: unknown): void {
    if (!isObject(result) || !('id' in result) || identity === null) return
    const isOurs = result['id'] === identity
    watch.identified(isOurs)
    if (!isOurs) throw new NoResponseError('postern_upstream_invalid', 'the bot of another token')
  }

  function take(bot: Bot): void {
    known = bot
    identity = bot.id
    limits = readLimits(bot.limits)
    watch.sawStatus(bot.status)
    for (const listener of listeners) listener(bot)
  }

  async function me(): Promise<Bot> {
    const result = await upstream.ask({ method: 'GET', path: '/me' })
    identify(result)
    const parsed = Bot.safeParse(result)
    if (!parsed.success) throw new NoResponseError('postern_upstream_invalid', 'a bot')
    take(parsed.data)
    return parsed.data
  }

  const get = async (path: string): Promise<unknown> =>
    await upstream.ask({ method: 'GET', path, deadlineMs: LOOKUP_MS })
  return {
    upstream,
    health,
    metrics,
    alerts,
    watch,
    calls: {
      me,
      chat: (chatId) => get(`/chats/${chatId}`),
      chatKeys: (chatId) => get(`/chats/${chatId}/keys`),
      userKey: (userId) => get(`/users/${userId}/key`),
      putKey: async (key) => {
        const body = JSON.stringify(key)
        await upstream.ask({ method: 'PUT', path: '/key', body, deadlineMs: PUBLISH_MS })
      },
    },
    bot: () => known,
    botId: () => identity,
    limits: () => limits,
    spent: () => spent,
    observe: (result) => {
      identify(result)
      const parsed = Bot.safeParse(result)
      if (parsed.success) take(parsed.data)
    },
    onBot: (listener) => listeners.push(listener),
    onStoreTrial: (trial) => {
      storeTrial = trial
    },
    onRevived: (listener) => revived.push(listener),
    onCleared: (listener) => cleared.push(listener),
    async [Symbol.asyncDispose]() {
      watch[Symbol.dispose]()
      await alerts[Symbol.asyncDispose]()
      await upstream[Symbol.asyncDispose]()
    },
  }
}

function readCa(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new OperatorError(
      'settings',
      'upstream.caFile cannot be read',
      'name a file of PEM certificates that this user may read',
      { cause },
    )
  }
}
