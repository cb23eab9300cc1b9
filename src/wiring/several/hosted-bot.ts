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

export interface HostedBotParts {
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

export class HostedBot {
  readonly loaded: LoadedBot
  readonly #parts: HostedBotParts
  #served: Served | null = null
  #problem: BotReason = { ...STARTING, sinceMs: Date.now() }
  #error: OperatorError | null = null
  /** A store that did not open is never replaced by an empty one, also when it was moved aside. */
  #mayCreateStore = true
  #timer: NodeJS.Timeout | undefined
  #waitMs = RETRY_MS.first
  #starting: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(loaded: LoadedBot, parts: HostedBotParts) {
    this.loaded = loaded
    this.#parts = parts
  }

  get name(): string {
    return this.loaded.name
  }

  /** Begins to serve it; when that fails, it is shown and tried again. Never rejects. */
  begin(): Promise<void> {
    this.#parts.toDoor(new SharedBot(null, this.#parts.lanes))
    this.#starting = this.#parts.start(() => this.#start())
    return this.#starting
  }

  /** Ends its calls and closes its store. */
  async end(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#starting
    const served = this.#served
    this.#served = null
    if (served === null) return
    await served.bot.stop(() => {
      this.#parts.toDoor(new SharedBot(null, this.#parts.lanes))
      return served.routes.drain()
    })
    await served.bot[Symbol.asyncDispose]()
  }

  /** Why it is not ready; none when it is. */
  get reasons(): BotReason[] {
    return this.#served?.bot.link.health.all() ?? [this.#problem]
  }

  /** Whether a key of it, or a subkey, has this fingerprint; false while it is not served. */
  hasKey(fingerprint: string): boolean {
    return this.#served?.bot.core.keyring.fingerprints.has(fingerprint) ?? false
  }

  /** Whether it has a client with this credential; false while it is not served. */
  hasClient(credential: string): boolean {
    return this.#served?.bot.core.known.clients.find(credential) != null
  }

  /** The answer of `/status`; shorter while it is not served. */
  status(): Promise<object> {
    return this.#served?.bot.operations.status() ?? Promise.resolve(this.report())
  }

  report(): BotReport {
    const { reasons } = this
    const bot = this.#served?.bot.link.bot() ?? null
    return {
      name: this.name,
      ready: this.#served?.bot.link.health.ready ?? false,
      served: this.#served !== null,
      reasons,
      bot: bot && { id: bot.id, username: bot.username ?? '' },
    }
  }

  /** The bot's operations; while it is not served, each is refused with the cause. */
  get operations(): Operations {
    const problem = this.#error ?? failedError(STARTING.message, STARTING.hint)
    return this.#served?.bot.operations ?? deriveCalls(OPERATIONS, () => Promise.reject(problem))
  }

  async #start(): Promise<void> {
    if (this.#isStopped) return
    try {
      this.#served = await this.#serve()
      this.#error = null
      this.#waitMs = RETRY_MS.first
    } catch (error) {
      this.#failed(error)
    }
  }

  async #serve(): Promise<Served> {
    const { log, parts, lanes, toDoor } = this.#parts
    const options = { ...this.loaded, log, parts, mayCreateStore: this.#mayCreateStore }
    await using stack = new AsyncDisposableStack()
    const bot = stack.use(await createBot(options))
    const routes = buildBotRoutes(bot.door)
    bot.start()
    toDoor(new SharedBot(routes, lanes))
    stack.move()
    return { bot, routes }
  }

  /** Adds a hint where a store is gone that was there when the bot was started first. */
  #knowing(error: OperatorError): OperatorError {
    if (this.#mayCreateStore || error.code !== 'store-missing') return error
    return new OperatorError(
      'store-missing',
      `${error.message}; there was one, which did not open`,
      '`postern backup restore` puts a backup there; to begin anew, with another key, remove the ' +
        'bot and add it again',
      { cause: error },
    )
  }

  #failed(error: unknown): void {
    const { log } = this.#parts
    const known = error instanceof OperatorError ? this.#knowing(error) : internal(error)
    const { code, message, hint } = known
    if (STORE_IS_THERE.has(code)) this.#mayCreateStore = false
    const isNew = this.#error?.code !== code
    this.#error = known
    if (isNew) this.#problem = { code, message, hint, sinceMs: Date.now() }
    const waitSeconds = this.#waitMs / 1000
    if (isNew) log.error({ code, problem: message, hint, waitSeconds }, 'the bot cannot be started')
    this.#timer = setTimeout(() => {
      this.#starting = this.#parts.start(() => this.#start())
    }, this.#waitMs).unref()
    this.#waitMs = Math.min(this.#waitMs * 2, RETRY_MS.last)
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
