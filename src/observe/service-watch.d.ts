import type { Health } from './health.ts';
export interface ServiceWatchParts {
    health: Health;
    /** Asks `GET /me` and takes in what it says; rejects when nothing usable came. */
    ask: () => Promise<unknown>;
    /** Called when a call works again after the token was burnt. */
    revived: () => void;
    /** Called now and then while the data directory could not be written; a write that works. */
    tryStore: () => Promise<unknown>;
}
/**
 * What the calls tell of the service: reachable, token good, not paused, clocks together. While
 * something is wrong it asks again by itself, so that readiness turns back without the bot.
 */
export declare class ServiceWatch implements Disposable {
    #private;
    constructor(parts: ServiceWatchParts);
    /** Our clock minus the service's, in ms; null before its first answer. */
    get skewMs(): number | null;
    /** Whether the last call was answered. */
    get reachable(): boolean;
    /** Begins to look by itself. */
    start(): void;
    /** The service answered; `route` is method and pattern. */
    answered(o: {
        route: string;
        status: number;
        code?: string;
    }): void;
    /** `/me` says whether the bot is paused, even while it is. */
    sawStatus(status: string | null | undefined): void;
    /** `/me` is the bot of our token, or another's. */
    identified(isOurs: boolean): void;
    /** The owner has paused the bot. */
    paused(): void;
    unreachable(code: string): void;
    unauthorized(): void;
    /** The bot burnt its token: nothing is asked by ourselves until a call works again. */
    revoked(): void;
    clock(skewMs: number): void;
    /** The data directory can be written, or cannot. */
    writable(isWritable: boolean): void;
    [Symbol.dispose](): void;
}
