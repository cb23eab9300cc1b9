import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { API_PREFIX } from '../api/endpoints.ts'
import { hostNames } from '../door.ts'
import { Refusal } from '../errors.ts'
import type { Log } from '../logger.ts'
import { FairQueue, type Lane } from '../util/fair-queue.ts'
import { createApp } from './app.ts'
import { requireBearer } from './auth.ts'
import type { BotTokens } from './bot-tokens.ts'
import { DOOR_BOUNDS, type DoorBounds } from './bounds.ts'
import { listenAt } from './listen.ts'
import type { RequestLine } from './request-log.ts'
import type { BotRoutes, Door } from './server.ts'

/** What the door of several bots is made of. */
export interface SharedDoorParts {
  log: Log
  /** Called with each request that was of no bot, once it is answered. */
  onAnswered: (line: RequestLine) => void
  /** Host names beside the loopback ones: `listen.allowedHosts` and `listen.host`. */
  allowedHosts: Iterable<string>
  bots: BotTokens<SharedBot>
  /** Only to make tests short. */
  bounds?: Partial<DoorBounds>
}

/** Each of several bots has as many connections as one alone would have. */
const CONNECTIONS = 32 * DOOR_BOUNDS.connections
/** Requests of one bot that are not answered yet, those that wait included. */
const UNDER_WAY = DOOR_BOUNDS.connections
/**
 * Calls of one bot at work at once, alone and beside others. Each takes some milliseconds of the one
 * loop, in which others wait: beside them it is one. A call that takes longer than `roomAfterMs`
 * waits for the service, and keeps the bot's next call from nothing.
 */
const AT_WORK = { perLane: 8, perLaneAmongOthers: 1, roomAfterMs: 250 }
const RETRY_AFTER_SECONDS = 1
const DOWN_SECONDS = 5

const UPDATES = `${API_PREFIX}/updates`
const MEDIA = '/media/'

/**
 * In which order calls are worked at that come in at one door: a lane for each bot.
 * @param o `roomAfterMs` only for tests
 */
export function createDoorQueue(o: { roomAfterMs?: number } = {}): FairQueue {
  return new FairQueue({ slots: Infinity, ...AT_WORK, ...o })
}

/** One of several bots, as their door knows it: with routes, or null while it cannot be served. */
export class SharedBot {
  readonly #routes: Pick<BotRoutes, 'answer'> | null
  readonly #lane: Lane
  #underWay = 0

  /** @param lane of `createDoorQueue` */
  constructor(routes: Pick<BotRoutes, 'answer'> | null, lane: Lane) {
    this.#routes = routes
    this.#lane = lane
  }

  /** Why it takes no request now; null when it does. */
  get refusal(): Refusal | null {
    if (this.#routes === null)
      return new Refusal('postern_bot_down', '', { extra: { retryAfter: DOWN_SECONDS } })
    if (this.#underWay < UNDER_WAY) return null
    const extra = { retryAfter: RETRY_AFTER_SECONDS }
    return new Refusal('postern_busy', 'the bot has too many calls under way', { extra })
  }

  /** Answers a request in its turn; a poll and a file, which mostly wait, at once. */
  readonly take: RequestListener = (request, response) => {
    this.#underWay++
    const closed = new Promise<void>((resolve) => response.once('close', resolve))
    void closed.then(() => this.#underWay--)
    const path = pathOf(request)
    if (path === UPDATES || path.startsWith(MEDIA)) return this.#routes?.answer(request, response)
    void this.#lane.run(() => this.#answer(request, response, closed))
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    closed: Promise<void>,
  ): Promise<void> {
    // Its caller may have gone while it waited.
    if (response.destroyed) return
    this.#routes?.answer(request, response)
    await closed
  }
}

/**
 * Builds the one door of several bots: who presents a bot's token, or the url of a file that names the
 * bot, is handed on to its routes, which check both anew. All others are refused here.
 */
export function buildSharedDoor(parts: SharedDoorParts): Door {
  const refusals = new WeakMap<IncomingMessage, Refusal>()
  const { app, drain } = createApp({
    log: parts.log,
    level: 'info',
    bounds: { ...DOOR_BOUNDS, connections: CONNECTIONS, ...parts.bounds },
    hosts: hostNames(parts.allowedHosts),
    anyHost: new Set(),
    authorize: (request) => {
      const refusal = refusals.get(request)
      if (refusal !== undefined) throw refusal
      requireBearer(request.rawHeaders, null)
    },
    onAnswered: parts.onAnswered,
    routesFor: (request) => {
      const bot = botInUrl(request, parts.bots) ?? parts.bots.find(request.rawHeaders)
      if (bot === null) return null
      const { refusal } = bot
      if (refusal === null) return bot.take
      refusals.set(request, refusal)
      return null
    },
  })
  return { listen: (at) => listenAt(app, at), drain }
}

function botInUrl(request: IncomingMessage, bots: SharedDoorParts['bots']): SharedBot | null {
  const { url = '' } = request
  if (!url.startsWith(MEDIA)) return null
  const names = new URLSearchParams(url.slice(pathOf(request).length)).getAll('bot')
  const [name] = names
  return name === undefined || names.length > 1 ? null : bots.get(name)
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? ''
}
