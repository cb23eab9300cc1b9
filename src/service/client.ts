import { Refusal } from '../errors.ts'
import type { StillMay } from '../clients/may-client.ts'
import { type Outbound, type Unseen, isOutbound } from '../kernel/index.ts'
import type { Answer, Method } from './attempt.ts'
import { Budget } from './budget.ts'
import { ifAnswerLost, ifUnreached, makeCall, never } from './caller.ts'
import type { Call, CallerParts } from './caller.ts'
import type { TokenSource, UpstreamEvents } from './caller.ts'
import type { Abortable } from './exchange.ts'
import { UPSTREAM_LIMITS, type UpstreamLimits } from './limits.ts'
import { fetchMedia } from './media.ts'
import { checkPath, endpointOf, isGuarded } from './path.ts'
import { createPools, type EgressProxies, type PoolLoad, type Pools } from './pools.ts'
import { serviceErrorOf } from './service-error.ts'

export type { Answer } from './attempt.ts'
export type { TokenSource, UpstreamEvents } from './caller.ts'

/** One call to the service. */
export interface UpstreamRequest {
  method: Method
  /** Below `/bot/v1`, already encoded; may carry a query. */
  path: string
  /** JSON. */
  body?: string
  /** Ends the call; it then throws NoResponseError, which nobody should wait for. */
  signal?: Abortable
  /** Time limit of the whole call, where less than the usual 30 s. */
  deadlineMs?: number
  /** Nothing of it is judged: a success beyond the bound is given as a stream, of any length. */
  mayStream?: boolean
  /** By a connection that bots at rest share; they wait for each other. */
  isCheck?: boolean
  /**
   * Called when it is written, after any wait for its turn and a connection. @throws to keep it
   * from being sent
   */
  requireAllowed?: () => void
}

/** A call of `GET /updates`. */
export interface PollRequest {
  /** Without the question mark. */
  query: string
  /** As in the query. */
  timeoutSeconds: number
  signal: AbortSignal
  /** `own`: a poll of the sidecar's, within its budget; it waits for its turn. */
  whose?: 'bot' | 'own'
}

export interface UpstreamOptions {
  /** The service's base URL, http or https. */
  baseUrl: string
  /** PEM certificates to trust beside the default roots. */
  ca?: string
  proxy?: EgressProxies
  token: TokenSource
  /** How many calls a minute the sidecar may make on its own account; asked afresh each time. */
  ownCallsPerMinute: () => number
  events: UpstreamEvents
  /** Other bounds than `UPSTREAM_LIMITS`; for tests. */
  limits?: Partial<UpstreamLimits>
}

/** The two routes that only the guard lets out. */
const GUARDED = {
  send: { method: 'POST', endpoint: 'sendMessage' },
  edit: { method: 'PATCH', endpoint: 'editMessage' },
} as const

/** The client's interface for other folders, so that a test can replace it. */
export type Upstream = Pick<UpstreamClient, keyof UpstreamClient>

/**
 * The only door to the service; no connection is made before the first call. Everything throws
 * NoResponseError without a usable answer in time, and Refusal `bad_request` for a path that must
 * not be sent.
 */
export class UpstreamClient implements AsyncDisposable {
  /** Traces put a span around these calls, and replace no other method. */
  static readonly traced = ['ask', 'relay', 'send', 'edit', 'media', 'poll'] as const
  readonly #parts: CallerParts
  readonly #pools: Pools
  readonly #stopping = new AbortController()

  constructor({ baseUrl, ca, proxy, token, ownCallsPerMinute, events, limits }: UpstreamOptions) {
    const { origin, pathname } = new URL(baseUrl)
    const bounds = { ...UPSTREAM_LIMITS, ...limits }
    this.#pools = createPools({ origin, ca, proxy, limits: bounds })
    this.#parts = {
      origin,
      basePath: pathname.replace(/\/+$/, ''),
      token,
      budget: new Budget(ownCallsPerMinute, bounds.budgetWindowMs),
      events,
      limits: bounds,
      stopping: this.#stopping.signal,
    }
  }

  /**
   * A call of the bot's. Gives any answer in the envelope, ok or not, for the bot unchanged.
   * A GET is repeated once when the connection failed before any answer; nothing else is.
   * @throws Refusal `postern_route_refused` for sends and edits, which only the guard lets out
   */
  async relay(request: UpstreamRequest): Promise<Answer> {
    return await makeCall(this.#parts, this.#ordinary(request, 'bot'))
  }

  /**
   * A call of the sidecar's own, within its budget. Gives the result.
   * @throws ServiceError for a refusal of the service; Refusal `postern_busy` when its turn would
   *   be too late; Refusal `postern_route_refused` as `relay` does
   */
  async ask(request: UpstreamRequest & { signal?: AbortSignal }): Promise<Unseen> {
    const call = this.#ordinary(request, 'own')
    await this.#parts.budget.take(call.untilMs, this.#ending(request.signal))
    const answer = await makeCall(this.#parts, call)
    if (answer.envelope.ok) return answer.envelope.result
    throw serviceErrorOf(answer, answer.envelope.error)
  }

  /**
   * A stored attachment (spec, GET /media/{id}), asked for without the token. Gives its bytes as
   * they arrive; ending the iteration ends the call.
   * @param id one that `MEDIA_ID` matches
   * @throws ServiceError for a refusal of the service; Refusal `postern_media_too_large`, which the
   *   bytes also throw, as they throw NoResponseError
   */
  async media(id: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const { origin, basePath, limits } = this.#parts
    const path = `${basePath}/media/${encodeURIComponent(id)}`
    const request = { origin, path, signal: this.#ending(signal), limits }
    return await fetchMedia(this.#pools.media.dispatcher, request)
  }

  /** A long poll, on connections of its own, never repeated. */
  async poll(request: PollRequest): Promise<Answer> {
    const { query, timeoutSeconds, signal, whose = 'bot' } = request
    const { budget, limits } = this.#parts
    const path = query === '' ? '/updates' : `/updates?${query}`
    checkPath(path)
    const own = whose === 'own'
    if (own) await budget.take(performance.now() + limits.budgetWindowMs, this.#ending(signal))
    const totalMs = timeoutSeconds * 1000 + limits.pollSlackMs
    return await makeCall(this.#parts, {
      pool: this.#pools.polls.dispatcher,
      method: 'GET',
      path,
      body: undefined,
      ...times(totalMs),
      signal,
      repeat: never,
      own,
    })
  }

  /**
   * Sends a permitted body; once more with the same bytes when the answer was lost.
   * @param stillMay of its caller, asked right before
   * @throws Refusal `postern_route_refused` for anything else; as `StillMay.require`
   */
  async send(outbound: Outbound, stillMay: StillMay): Promise<Answer> {
    const { sendFirstMs, sendTotalMs } = this.#parts.limits
    const call = this.#guarded(outbound, 'send', stillMay)
    const within = times(sendTotalMs, sendFirstMs)
    return await makeCall(this.#parts, { ...call, ...within, repeat: ifAnswerLost })
  }

  /** Edits by a permitted body; never repeated. @throws as `send` does */
  async edit(outbound: Outbound, stillMay: StillMay): Promise<Answer> {
    const call = this.#guarded(outbound, 'edit', stillMay)
    const within = times(this.#parts.limits.callMs)
    return await makeCall(this.#parts, { ...call, ...within, repeat: never })
  }

  /** The load of its connections. */
  load(): Record<'calls' | 'polls' | 'media', PoolLoad> {
    const { calls, polls, media } = this.#pools
    return { calls: calls.load(), polls: polls.load(), media: media.load() }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await Promise.all(Object.values(this.#pools).map((pool) => pool.end()))
  }

  #ordinary(request: UpstreamRequest, whose: 'bot' | 'own'): Call {
    const { method, path, body, signal, mayStream, deadlineMs = Infinity } = request
    const { checks, calls } = this.#pools
    checkPath(path)
    if (isGuarded(method, path)) throw new Refusal('postern_route_refused')
    return {
      pool: (request.isCheck === true ? checks : calls).dispatcher,
      method,
      path,
      body: body === '' ? undefined : body,
      ...times(Math.min(deadlineMs, this.#parts.limits.callMs)),
      signal,
      mayStream,
      repeat: method === 'GET' ? ifUnreached : never,
      own: whose === 'own',
      requireAllowed: request.requireAllowed,
    }
  }

  #guarded(outbound: Outbound, route: Outbound['route'], stillMay: StillMay) {
    const { method, endpoint } = GUARDED[route]
    if (
      !isOutbound(outbound) ||
      outbound.route !== route ||
      endpointOf(method, outbound.path)?.name !== endpoint
    ) {
      throw new Refusal('postern_route_refused')
    }
    const { path, body, ground } = outbound
    checkPath(path)
    const requireAllowed = (): void => {
      stillMay.require()
      ground.require()
    }
    const permitted = async (): Promise<void> => {
      await ground.renew()
      requireAllowed()
    }
    const { dispatcher: pool } = this.#pools.calls
    return { pool, method, path, body, signal: undefined, own: false, permitted, requireAllowed }
  }

  /** The signals that end a call: the caller's own, and the end of the sidecar. */
  #ending(signal: AbortSignal | undefined): AbortSignal {
    const { stopping } = this.#parts
    return signal === undefined ? stopping : AbortSignal.any([signal, stopping])
  }
}

function times(totalMs: number, firstMs = totalMs): { firstUntilMs: number; untilMs: number } {
  const nowMs = performance.now()
  return { firstUntilMs: nowMs + firstMs, untilMs: nowMs + totalMs }
}
