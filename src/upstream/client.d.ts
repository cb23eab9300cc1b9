import { type Outbound } from '../permit.ts';
import type { Answer } from './attempt.ts';
import { type TokenSource } from './caller.ts';
import type { UpstreamEvents } from './events.ts';
import { type UpstreamLimits } from './limits.ts';
import { type PoolLoad, type ProxySettings } from './pools.ts';
export type { Answer } from './attempt.ts';
export type { TokenSource } from './caller.ts';
export type { UpstreamEvents } from './events.ts';
export type { UpstreamLimits } from './limits.ts';
export type { ProxySettings } from './pools.ts';
/** One call to the service. */
export interface UpstreamRequest {
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
    /** Below `/bot/v1`, already encoded; may carry a query. */
    path: string;
    /** JSON. */
    body?: string;
    /** Ends the call; it then throws NoResponseError, which nobody should wait for. */
    signal?: AbortSignal;
    /** What the call may take in all, where less than the usual 30 s. */
    deadlineMs?: number;
}
/** A call of `GET /updates`. */
export interface PollRequest {
    /** Without the question mark. */
    query: string;
    /** As in the query. */
    timeoutSeconds: number;
    signal: AbortSignal;
    /** `own`: a poll of the sidecar's, within its budget; it waits for its turn. */
    whose?: 'bot' | 'own';
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
    relay(request: UpstreamRequest): Promise<Answer>;
    /** A long poll, on connections of its own, never repeated. */
    poll(request: PollRequest): Promise<Answer>;
    /**
     * A call of the sidecar's own, within its budget. Gives the result.
     * @throws ServiceError when the service says no; Refusal `postern_busy` when its turn would come
     *   too late; Refusal `postern_route_refused` as `relay` does
     */
    ask(request: UpstreamRequest): Promise<unknown>;
    /**
     * Sends what the guard let out; once more with the same bytes when the answer was lost.
     * @throws Refusal `postern_route_refused` for anything else
     */
    send(outbound: Outbound): Promise<Answer>;
    /** Edits what the guard let out; never repeated. @throws as `send` does */
    edit(outbound: Outbound): Promise<Answer>;
    /**
     * A stored attachment (spec, GET /media/{id}), asked for without the token. Gives its octets as
     * they arrive; whoever stops reading them ends the call.
     * @param id one that `MEDIA_ID` matches
     * @throws ServiceError when the service says no; Refusal `postern_media_too_large`, which the
     *   octets also throw, as they throw NoResponseError
     */
    media(id: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
    /** What its connections are doing now. */
    load(): Record<'calls' | 'polls' | 'media', PoolLoad>;
}
export interface UpstreamOptions {
    /** The service's base URL, http or https. */
    baseUrl: string;
    /** PEM certificates to trust beside the default roots. */
    ca?: string;
    proxy?: ProxySettings;
    token: TokenSource;
    /** How many calls a minute the sidecar may make on its own account; asked afresh each time. */
    ownCallsPerMinute: () => number;
    events: UpstreamEvents;
    /** Other bounds than `UPSTREAM_LIMITS`; for tests. */
    limits?: Partial<UpstreamLimits>;
}
/** Makes the door. No connection is made before the first call. */
export declare function createUpstream(options: UpstreamOptions): Upstream;
