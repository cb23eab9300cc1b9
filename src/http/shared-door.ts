import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { API_PREFIX } from '../api/endpoints.ts'
import { Refusal, busyRefusal } from '../errors.ts'
import { FairQueue, type Lane } from '../util/fair-queue.ts'
import { createApp, type DoorParts } from './app.ts'
import { requireBearer } from './auth.ts'
import type { BotTokens } from './bot-tokens.ts'
import { DOOR_BOUNDS } from './bounds.ts'
import { listenAt } from './listen.ts'
import type { BotRoutes, Door } from './server.ts'

/** The parts of the door of several bots. `onAnswered` is called with requests that were of no bot. */
export interface SharedDoorParts extends DoorParts {
  bots: BotTokens<SharedBot>
  /** Turns of requests that are of no bot, of `createDoorQueues`. */
  strangers: Lane
}

/** Each of several bots has as many connections as one alone would have. */
const CONNECTIONS = 32 * DOOR_BOUNDS.connections
/**
 * Unanswered requests of one bot, waiting ones included; and as many for its files by callers
 * without the bot's token.
 */
const UNDER_WAY = DOOR_BOUNDS.connections
/**
 * Concurrent calls of one bot, alone and beside others. Each needs some milliseconds of the one
 * event loop, while others wait: beside them it is one. A call that needs longer than `roomAfterMs`
 * waits for the service, and does not delay the bot's next call.
 */
const AT_WORK = { perLane: 8, perLaneAmongOthers: 1, roomAfterMs: 250 }
/** Concurrent files and refusals: those that wait for the service make room soon. */
const FILES_AT_WORK = { perLane: 2, roomAfterMs: 20 }
const RETRY_AFTER_SECONDS = 1
const DOWN_SECONDS = 5

const UPDATES = `${API_PREFIX}/updates`
const MEDIA = '/media/'

/** The turns of one bot at the door that it shares. */
export type DoorLanes = Record<'calls' | 'files', Lane>

/** The order in which the requests of one door are processed. @param o `roomAfterMs` only for tests */
export function createDoorQueues(o: { roomAfterMs?: number } = {}) {
  const calls = new FairQueue({ slots: Infinity, ...AT_WORK, ...o })
  const files = new FairQueue({ slots: Infinity, ...FILES_AT_WORK, ...o })
  return {
    /** Of requests that are nobody's. */
    strangers: files.lane(),
    /** For one more bot. */
    lanes: (): DoorLanes => ({ calls: calls.lane(), files: files.lane() }),
  }
}

/** How a caller is authorized for a bot: by its token, or by the url of a file that names it. */
export type DoorCaller = 'token' | 'url'

/** One of several bots, as their door knows it: with routes, or null while it cannot be served. */
export class SharedBot {
  readonly #routes: Pick<BotRoutes, 'answer'> | null
  readonly #lanes: DoorLanes
  readonly #underWay: Record<DoorCaller, number> = { token: 0, url: 0 }

  constructor(routes: Pick<BotRoutes, 'answer'> | null, lanes: DoorLanes) {
    this.#routes = routes
    this.#lanes = lanes
  }

  /** Why the bot accepts no request now; null when it does. */
  refusal(caller: DoorCaller): Refusal | null {
    if (this.#routes === null)
      return new Refusal('postern_bot_down', '', { extra: { retryAfter: DOWN_SECONDS } })
    if (this.#underWay[caller] < UNDER_WAY) return null
    return busyRefusal('the bot has too many calls under way', RETRY_AFTER_SECONDS)
  }

  /** Answers a request in its turn; a poll, which mostly waits, at once. */
  take(caller: DoorCaller, request: IncomingMessage, response: ServerResponse): void {
    const routes = this.#routes
    if (routes === null) return
    this.#underWay[caller]++
    const call = callOf(request, response)
    // oxlint-disable-next-line typescript/no-floating-promises -- `closed` never rejects
    void call.closed.then(() => this.#underWay[caller]--)
    const path = pathOf(request)
    if (path === UPDATES) return routes.answer(request, response)
    const lane = path.startsWith(MEDIA) ? this.#lanes.files : this.#lanes.calls
    answerInTurn(lane, routes.answer, call)
  }
}

/** A request that the door received. */
type DoorCall = ReturnType<typeof callOf>

const callOf = (request: IncomingMessage, response: ServerResponse) => ({
  request,
  response,
  /** Resolves when the answer is closed. One listener serves all waiters. */
  closed: new Promise<void>((resolve) => response.once('close', resolve)),
})

/** Answers a request in its turn. */
function answerInTurn(lane: Lane, answer: RequestListener, call: DoorCall): void {
  const { request, response, closed } = call
  // oxlint-disable-next-line typescript/no-floating-promises -- the routes answer their own errors
  void lane.run(async () => {
    // Its caller may have gone while it waited.
    if (response.destroyed) return
    answer(request, response)
    await closed
    // Without a pause all waiting requests would be answered before any new one is read.
    await nextTurn()
  })
}

/**
 * Builds the one door of several bots: a request with a bot's token, or with the url of a file that
 * names the bot, goes to the bot's routes, which check both anew. All others are refused here.
 */
export function buildSharedDoor(parts: SharedDoorParts): Door {
  const refusals = new WeakMap<IncomingMessage, Refusal>()
  const { app, drain } = createApp({
    ...parts,
    level: 'info',
    bounds: { connections: CONNECTIONS, ...parts.bounds },
    authorize: (request) => {
      const refusal = refusals.get(request)
      if (refusal !== undefined) throw refusal
      requireBearer(request.rawHeaders, null)
      return null
    },
    routesFor: (request, refuse) => {
      const owner = parts.bots.find(request)
      const bot = botInUrl(request, parts.bots) ?? owner
      const caller = bot === owner ? 'token' : 'url'
      const refusal = bot?.refusal(caller) ?? null
      if (bot !== null && refusal === null) return (...exchange) => bot.take(caller, ...exchange)
      if (refusal !== null) refusals.set(request, refusal)
      return (...exchange) => answerInTurn(parts.strangers, refuse, callOf(...exchange))
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

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? ''
