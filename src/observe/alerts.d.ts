import type { Log } from '../logger.ts';
/** What an operator must not miss. Holds no secret and nobody's words. */
export interface Alert {
    /**
     * A reason's code, or `verified-changed`, `shared-certificate`, `list-contradicts`,
     * `too-many-chats`, `too-many-people`.
     */
    alert: string;
    /** False when it is over. */
    holds: boolean;
    /** What is the matter, and what to do about it. */
    what: string;
    hint: string;
    /** Whom it is about, where it is about somebody. */
    userId?: number;
}
/** A way to tell the operator. Throws when it could not be told; `signal` ends the attempt. */
export interface AlertWay {
    name: 'command' | 'url';
    tell(alert: Alert & {
        at: string;
    }, signal: AbortSignal): Promise<void>;
}
export interface AlertParts {
    ways: readonly AlertWay[];
    log: Log;
    /** Told how each ended. */
    told: (o: {
        way: string;
        outcome: 'told' | 'failed' | 'dropped';
    }) => void;
}
/** Tells the operator, one after the other, without anything waiting for it. */
export declare class Alerts implements AsyncDisposable {
    #private;
    constructor(parts: AlertParts);
    /** Tells of something; the same within ten minutes is told once. Never throws. */
    raise(alert: Alert): void;
    [Symbol.asyncDispose](): Promise<void>;
}
