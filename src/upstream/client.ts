import { Refusal } from '../errors.ts'
import { isOutbound, type Outbound } from '../kernel/wall/guard.ts'
import type { Answer, Method } from './attempt.ts'
import { Budget } from './budget.ts'
import {
  Caller,
  ifAnswerLost,
  ifUnreached,
  never,
  type Call,
  type TokenSource,
  type UpstreamEvents,
} from './caller.ts'
import { UPSTREAM_LIMITS, type UpstreamLimits } from './limits.ts'
import { fetchMedia } from './media.ts'
import { checkPath, endpointOf, isGuarded } from './path.ts'
import { createPools, type PoolLoad, type Pools, type EgressProxies } from './pools.ts'
import { serviceErrorOf } from './service-error.ts'

export type { Answer } from './attempt.ts'
export type { TokenSource, UpstreamEvents } from './caller.ts'
export type { UpstreamLimits } from './limits.ts'
export type { EgressProxies } from './pools.ts'

/** One call to the service. */
export interface UpstreamRequest {
  method: Method
  /** Below `/bot/v1`, already encoded; may carry a query. */
  path: string
  /** JSON. */
  body?: string
  /** Ends the call; it then throws NoResponseError, which nobody should wait for. */
  signal?: AbortSignal
  /** What the call may take in all, where less than the usual 30 s. */
  deadlineMs?: number
  /**
   * Asked when it is written, after any wait for its turn and a connection. @throws what keeps it
   * from leaving
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

/**
 * The only door to the service. Everything throws NoResponseError when no usable answer came in time,
 * and Refusal `bad_request` for a path that must not be sent.
 */
export interface Upstream extends AsyncDisposable {
  /**
   * A call of the bot's. Gives any answer in the envelope, ok or not, to be handed on as it came.
   * A GET is repeated once when the connection failed before any answer; nothing else is.
   * @throws Refusal `postern_route_refused` for sends and edits, which only the guard lets out
   */
  relay(request: UpstreamRequest): Promise<Answer>
  /** A long poll, on connections of its own, never repeated. */
  poll(request: PollRequest): Promise<Answer>
  /**
   * A call of the sidecar's own, within its budget. Gives the result.
   * @throws ServiceError when the service says no; Refusal `postern_busy` when its turn would come
   *   too late; Refusal `postern_route_refused` as `relay` does
   */
  ask(request: UpstreamRequest): Promise<unknown>
  /**
   * Sends what the guard let out; once more with the same bytes when the answer was lost.
   * @throws Refusal `postern_route_refused` for anything else
   */
  send(outbound: Outbound): Promise<Answer>
  /** Edits what the guard let out; never repeated. @throws as `send` does */
  edit(outbound: Outbound): Promise<Answer>
  /**
   * A stored attachment (spec, GET /media/{id}), asked for without the token. Gives its bytes as
   * they arrive; whoever stops reading them ends the call.
   * @param id one that `MEDIA_ID` matches
   * @throws ServiceError when the service says no; Refusal `postern_media_too_large`, which the
   *   bytes also throw, as they throw NoResponseError
   */
  media(id: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
  /** What its connections are doing now. */
  load(): Record<'calls' | 'polls' | 'media', PoolLoad>
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

/** Makes the client. No connection is made before the first call. */
export function createUpstream(options: UpstreamOptions): Upstream {
  return new UpstreamClient(options)
}

class UpstreamClient implements Upstream {
  readonly #limits: UpstreamLimits
  readonly #origin: string
  readonly #basePath: string
  readonly #pools: Pools
  readonly #budget: Budget
  readonly #caller: Caller
  readonly #stopping = new AbortController()

  constructor({ baseUrl, ca, proxy, token, ownCallsPerMinute, events, limits }: UpstreamOptions) {
    const { origin, pathname } = new URL(baseUrl)
    this.#limits = { ...UPSTREAM_LIMITS, ...limits }
    this.#origin = origin
    this.#basePath = pathname.replace(/\/+$/, '')
    this.#pools = createPools({ origin, ca, proxy, limits: this.#limits })
    this.#budget = new Budget(ownCallsPerMinute, this.#limits.budgetWindowMs)
    this.#caller = new Caller({
      origin,
      basePath: this.#basePath,
      token,
      budget: this.#budget,
      events,
      limits: this.#limits,
      stopping: this.#stopping.signal,
    })
  }

  async relay(request: UpstreamRequest): Promise<Answer> {
    return this.#caller.run(this.#ordinary(request, 'bot'))
  }

  async ask(request: UpstreamRequest): Promise<unknown> {
    const call = this.#ordinary(request, 'own')
    await this.#budget.take(call.untilMs, this.#ending(call.signal))
    const answer = await this.#caller.run(call)
    if (answer.envelope.ok) return answer.envelope.result
    throw serviceErrorOf(answer, answer.envelope.error)
  }

  async media(id: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    return await fetchMedia(this.#pools.media, {
      origin: this.#origin,
      path: `${this.#basePath}/media/${encodeURIComponent(id)}`,
      signal: this.#ending(signal),
      limits: this.#limits,
    })
  }

  async poll(request: PollRequest): Promise<Answer> {
    const path = request.query === '' ? '/updates' : `/updates?${request.query}`
    checkPath(path)
    const own = request.whose === 'own'
    if (own) {
      const untilMs = performance.now() + this.#limits.budgetWindowMs
      await this.#budget.take(untilMs, this.#ending(request.signal))
    }
    const totalMs = request.timeoutSeconds * 1000 + this.#limits.pollSlackMs
    return this.#caller.run({
      pool: this.#pools.polls,
      method: 'GET',
      path,
      body: undefined,
      ...this.#times(totalMs, totalMs),
      signal: request.signal,
      repeat: never,
      own,
    })
  }

  async send(outbound: Outbound): Promise<Answer> {
    return this.#caller.run({
      ...this.#guarded(outbound, 'send'),
      ...this.#times(this.#limits.sendFirstMs, this.#limits.sendTotalMs),
      repeat: ifAnswerLost,
    })
  }

  async edit(outbound: Outbound): Promise<Answer> {
    return this.#caller.run({
      ...this.#guarded(outbound, 'edit'),
      ...this.#times(this.#limits.callMs, this.#limits.callMs),
      repeat: never,
    })
  }

  load(): Record<'calls' | 'polls' | 'media', PoolLoad> {
    return this.#pools.load()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    const { calls, polls, media } = this.#pools
    await Promise.all([calls, polls, media].map((pool) => pool.destroy()))
  }

  #ordinary(request: UpstreamRequest, whose: 'bot' | 'own'): Call {
    const { method, path, body, signal, deadlineMs = Infinity, requireAllowed } = request
    checkPath(path)
    if (isGuarded(method, path)) throw new Refusal('postern_route_refused')
    const totalMs = Math.min(deadlineMs, this.#limits.callMs)
    return {
      pool: this.#pools.calls,
      method,
      path,
      body: body === '' ? undefined : body,
      ...this.#times(totalMs, totalMs),
      signal,
      repeat: method === 'GET' ? ifUnreached : never,
      own: whose === 'own',
      requireAllowed,
    }
  }

  #guarded(outbound: Outbound, route: Outbound['route']) {
    const method = route === 'send' ? ('POST' as const) : ('PATCH' as const)
    const endpoint = route === 'send' ? 'sendMessage' : 'editMessage'
    if (
      !isOutbound(outbound) ||
      outbound.route !== route ||
      endpointOf(method, outbound.path)?.name !== endpoint
    ) {
      throw new Refusal('postern_route_refused')
    }
    checkPath(outbound.path)
    const requireAllowed = (): void => {
      if (!outbound.ground.holds()) throw new Refusal('postern_downgrade_refused')
    }
    return {
      pool: this.#pools.calls,
      method,
      path: outbound.path,
      body: outbound.body,
      signal: undefined,
      own: false,
      permitted: async () => {
        await outbound.ground.renew()
        requireAllowed()
      },
      requireAllowed,
    }
  }

  #times(firstMs: number, totalMs: number): { firstUntilMs: number; untilMs: number } {
    const nowMs = performance.now()
    return { firstUntilMs: nowMs + firstMs, untilMs: nowMs + totalMs }
  }

  /** What ends a call: the caller's own signal, and the end of the sidecar. */
  #ending(signal: AbortSignal | undefined): AbortSignal {
    const stopping = this.#stopping.signal
    return signal === undefined ? stopping : AbortSignal.any([signal, stopping])
  }
}
