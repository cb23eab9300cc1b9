import type { Dispatcher } from 'undici';
import { type Answer, type WireRequest } from './attempt.ts';
import type { Budget } from './budget.ts';
import type { UpstreamEvents } from './events.ts';
import type { UpstreamLimits } from './limits.ts';
import type { RepeatRule } from './retry.ts';
/** The bot's token, which may be read again from where it came. */
export interface TokenSource {
    reveal(): string;
    /** Reads it again; true when it changed. */
    reload(): Promise<boolean>;
}
/** One logical call: what is asked, how long it may take in all, and when it is asked again. */
export interface Call {
    pool: Dispatcher;
    method: WireRequest['method'];
    /** Below the API prefix, checked. */
    path: string;
    body: string | Buffer | undefined;
    /** The end of it all, of `performance.now()`. */
    untilMs: number;
    /** The end of the first attempt. */
    firstUntilMs: number;
    /** Ends it. */
    signal: AbortSignal | undefined;
    repeat: RepeatRule;
    /** A call of the sidecar's own, whose attempts count. */
    own: boolean;
    /** Asked before each attempt. @throws Refusal when the call must not be made any more */
    permitted?: () => void;
}
export interface CallerParts {
    origin: string;
    /** Path of the base URL, without a slash at its end. */
    basePath: string;
    token: TokenSource;
    budget: Budget;
    events: UpstreamEvents;
    limits: UpstreamLimits;
    /** Nothing is begun any more; what is under way ends with the pools. */
    stopping: AbortSignal;
}
/** Makes calls: attempts, the token read again after a 401, one repetition where the rule allows. */
export declare class Caller {
    #private;
    constructor(parts: CallerParts);
    /**
     * Gives the service's answer, ok or not.
     * @throws NoResponseError when none came that can be used
     */
    run(call: Call): Promise<Answer>;
}
