import { type Dispatcher } from 'undici';
import type { UpstreamLimits } from './limits.ts';
/** Egress proxies, as their environment variables would name them. */
export interface ProxySettings {
    httpsProxy?: string;
    httpProxy?: string;
    noProxy?: string;
}
/** What the connections of a pool are doing. */
export interface PoolLoad {
    /** Calls under way. */
    busy: number;
    /** Calls that wait for a connection. */
    waiting: number;
}
/** Connections of our own, apart from every other in the process; polls never block calls. */
export interface Pools {
    calls: Dispatcher;
    polls: Dispatcher;
    media: Dispatcher;
    load(): Record<'calls' | 'polls' | 'media', PoolLoad>;
}
/**
 * Makes the pools. Nothing that undici could add is on: no redirects, no cache, no retries, no
 * decompression, no HTTP/2, no pipelining; the environment is not read.
 * @param o `origin` scheme and host; `ca` PEM certificates that are trusted beside the default
 *   roots; `proxy` is left out for a loopback origin, as it can only lead away from it
 * @throws OperatorError `settings` when `ca` holds no certificate
 */
export declare function createPools(o: {
    origin: string;
    ca: string | undefined;
    proxy: ProxySettings | undefined;
    limits: UpstreamLimits;
}): Pools;
