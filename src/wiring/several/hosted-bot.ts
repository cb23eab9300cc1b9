/** One of several bots of a process: started, tried again while it cannot be, stopped. */
import type { LoadedBot } from '../../config/read-several.ts'
import type { BotReason, BotReport } from '../../operators/reports.ts'
import { OPERATIONS, type Operations } from '../../operators/operations.ts'
import { failedError, OperatorError, type OperatorCode } from '../../errors.ts'
import { buildBotRoutes, type BotRoutes } from '../../http/server.ts'
import { SharedBot, type DoorLanes } from '../../http/shared-door.ts'
import type { Log } from '../../logger.ts'
import { deriveCalls } from '../../util/operation.ts'
import { createBot, type RunningBot } from '../bot.ts'
import type { HandedInParts } from '../link.ts'

/** The first wait before a bot that could not be started is tried again; it doubles up to the last. */
const RETRY_MS = { first: 1000, last: 60_000 }

interface HostedBotParts {
  log: Log
  /** Parts shared with the other bots. */
  parts: HandedInParts
  /** Limits how many bots start at once. */
  start: <T>(task: () => Promise<T>) => Promise<T>
  /** Its turns at the door. */
  lanes: DoorLanes
  /** Hands it to the door as that is to know it from now on. */
  toDoor: (bot: SharedBot) => void
}

/** A bot that is served, with the routes that lead to it. */
interface Served {
  bot: RunningBot
  routes: BotRoutes
}

export type HostedBot = ReturnType<typeof createHostedBot>

export function createHostedBot(loaded: LoadedBot, o: HostedBotParts) {
  const { log, parts, lanes, toDoor } = o
  const { name } = loaded
  let served: Served | null = null
  let problem: BotReason = { ...STARTING, sinceMs: Date.now() }
  let refusal: OperatorError | null = null
  /** A store that did not open is never replaced by an empty one, also when it was moved aside. */
  let mayCreateStore = true
  let timer: NodeJS.Timeout | undefined
  let waitMs = RETRY_MS.first
  let starting: Promise<void> = Promise.resolve()
  let isStopped = false

  const startInTurn = (): Promise<void> => (starting = o.start(start))

  const start = async (): Promise<void> => {
    if (isStopped) return
    try {
      served = await serve()
      refusal = null
      waitMs = RETRY_MS.first
    } catch (error) {
      failed(error)
    }
  }

  const serve = async (): Promise<Served> => {
    await using stack = new AsyncDisposableStack()
    const bot = stack.use(await createBot({ ...loaded, log, parts, mayCreateStore }))
    const routes = buildBotRoutes(bot.door)
    bot.start()
    toDoor(new SharedBot(routes, lanes))
    stack.move()
    return { bot, routes }
  }

  /** Adds a hint where a store is gone that was there when the bot was started first. */
  const knowing = (error: OperatorError): OperatorError => {
    if (mayCreateStore || error.code !== 'store-missing') return error
    return new OperatorError(
      'store-missing',
      `${error.message}; there was one, which did not open`,
      '`postern backup restore` puts a backup there; to begin anew, with another key, remove the ' +
        'bot and add it again',
      { cause: error },
    )
  }

  const failed = (error: unknown): void => {
    const known = error instanceof OperatorError ? knowing(error) : internal(error)
    const { code, message, hint } = known
    if (STORE_IS_THERE.has(code)) mayCreateStore = false
    const isNew = refusal?.code !== code
    refusal = known
    if (isNew) problem = { code, message, hint, sinceMs: Date.now() }
    const waitSeconds = waitMs / 1000
    if (isNew) log.error({ code, problem: message, hint, waitSeconds }, 'the bot cannot be started')
    timer = setTimeout(() => void startInTurn(), waitMs).unref()
    waitMs = Math.min(waitMs * 2, RETRY_MS.last)
  }

  /** Why it is not ready; none when it is. */
  const reasons = (): BotReason[] => served?.bot.link.health.all() ?? [problem]

  const report = (): BotReport => {
    const bot = served?.bot.link.bot() ?? null
    return {
      name,
      ready: served?.bot.link.health.ready ?? false,
      served: served !== null,
      reasons: reasons(),
      bot: bot && { id: bot.id, username: bot.username ?? '' },
    }
  }

  return {
    loaded,
    name,
    reasons,
    report,

    /** Begins to serve it; when that fails, it is shown and tried again. Never rejects. */
    begin: (): Promise<void> => {
      toDoor(new SharedBot(null, lanes))
      return startInTurn()
    },

    /** Ends its calls and closes its store. */
    end: async (): Promise<void> => {
      isStopped = true
      clearTimeout(timer)
      await starting
      const ending = served
      served = null
      if (ending === null) return
      await ending.bot.stop(() => {
        toDoor(new SharedBot(null, lanes))
        return ending.routes.drain()
      })
      await ending.bot[Symbol.asyncDispose]()
    },

    /** Whether a key of it, or a subkey, has this fingerprint; false while it is not served. */
    hasKey: (fingerprint: string): boolean =>
      served?.bot.core.keyring.fingerprints.has(fingerprint) ?? false,

    /** Whether it has a client with this credential; false while it is not served. */
    hasClient: (credential: string): boolean =>
      served?.bot.core.known.clients.find(credential) != null,

    /** The answer of `/status`; shorter while it is not served. */
    status: (): Promise<object> => served?.bot.operations.status() ?? Promise.resolve(report()),

    /** The bot's operations; while it is not served, each is refused with the cause. */
    operations: (): Operations => {
      const cause = refusal ?? failedError(STARTING.message, STARTING.hint)
      return served?.bot.operations ?? deriveCalls(OPERATIONS, () => Promise.reject(cause))
    },
  }
}

/** Why a store that is there does not open. */
const STORE_IS_THERE: ReadonlySet<string> = new Set<OperatorCode>([
  'protection',
  'store-corrupt',
  'store-derivation',
  'store-in-use',
  'store-moved',
  'store-newer',
  'store-other-bot',
  'store-passphrase',
  'store-restored',
])

const STARTING = {
  code: 'starting',
  message: 'the bot is still starting',
  hint: 'wait; if it takes long, the log says what it waits for',
}

function internal(cause: unknown): OperatorError {
  const name = cause instanceof Error ? cause.name : typeof cause
  return failedError(`internal failure (${name})`, 'see the log', { cause })
}
