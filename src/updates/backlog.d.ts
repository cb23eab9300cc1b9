import type { Update } from '../api/update.ts';
import type { Clock } from './clock.ts';
/**
 * `waiting`: the bot's webhook takes updates more slowly than they come, or not at all.
 * `expiring`: the service is about to drop some (spec, Events 2).
 */
export type BacklogLevel = 'none' | 'waiting' | 'expiring';
export interface BacklogState {
    level: BacklogLevel;
    /** Updates at the service, as it last said; null when it has not. */
    pending: number | null;
    /** How long the oldest has been waiting; null when nothing waits or it has no date. */
    oldestMs: number | null;
}
export interface BacklogParts {
    clock: Clock;
    /** Our clock minus the service's; null when that is not known. */
    skewMs: () => number | null;
    /** Whether it is for us to deliver. A bot that polls may come when it likes. */
    isDelivering: () => boolean;
    /** Asks `GET /me` anew; what it says of the queue comes back through `recordPending`. */
    ask: () => Promise<unknown>;
    /** Called at each look and each answer, with the level before it. */
    onState: (state: BacklogState, before: BacklogLevel) => void;
}
export declare class Backlog implements Disposable {
    #private;
    constructor(parts: BacklogParts);
    /** Looks once a minute from now on, and asks the service while something is behind. */
    start(): void;
    get state(): BacklogState;
    /** A poll, ours or the bot's, was answered with these, where so many were asked for. */
    recordPoll(updates: readonly Update[], asked: number): void;
    /** The service said how many wait, in `/me` or about the webhook. */
    recordPending(count: number): void;
    /** A delivery failed: what comes meanwhile waits. */
    markBehind(): void;
    [Symbol.dispose](): void;
}
