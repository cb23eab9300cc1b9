import { type Registry } from '@prometheus-io/client';
/** Those at work, and what waits for one of them. */
interface Load {
    busy: number;
    waiting: number;
}
/** What is known of the load, asked when somebody looks. Names come from closed sets. */
export interface LoadSource {
    /** Threads, by what they do. */
    threads(): Record<string, Load>;
    /** Connections to the service, by pool. */
    connections(): Record<string, Load>;
    /** Look-ups since the beginning, by cache. */
    caches(): Record<string, {
        hits: number;
        misses: number;
    }>;
}
/**
 * Shows how busy threads and connections are, and whether the caches are of use.
 * @param source asked at each look
 */
export declare function showLoad(registry: Registry, source: LoadSource): void;
export {};
