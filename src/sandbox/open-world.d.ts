import { World, type WorldRules } from './world.ts';
export interface WorldOptions {
    /** File that stores the world; in memory alone when absent. */
    data?: string;
    /**
     * `running` follows real time; `still` moves only by `advance`. By default as stored in `data`,
     * else `running`.
     */
    clock?: 'running' | 'still';
    /** Time at the start, ms since epoch; the real time by default. */
    startMs?: number;
    /** `off`: no rate windows. For benchmarks. */
    rates?: WorldRules['rates'];
    /** `local`: webhooks may be http and at any address. For bots on this machine. */
    webhooks?: WorldRules['webhooks'];
    /** Stands in for DNS when a webhook's host is resolved. */
    resolveHost?: WorldRules['resolveHost'];
    /** How many of the newest calls the transcript holds; 10 000 by default, 0 for none. */
    transcriptCalls?: number;
}
/** Opens the world that a file holds, or makes a new and empty one. @throws OperatorError */
export declare function openWorld(options: WorldOptions): Promise<World>;
