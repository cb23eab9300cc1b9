/** What the door tells about itself; the listener must not throw. */
export interface UpstreamEvents {
    /** The service answered one attempt, with yes or no. `route` is a pattern, `ms` its duration. */
    answered(o: {
        route: string;
        status: number;
        code?: string;
        ms: number;
        own: boolean;
    }): void;
    /** A call ended without a usable answer; `code` is one of `postern_upstream_*`. */
    unreachable(code: string): void;
    /** The service refuses the token, also after it was read again. */
    unauthorized(): void;
    /** The owner has paused the bot. */
    paused(): void;
    /** The service did what it was asked. */
    working(): void;
    /** How far our clock is surely ahead of the service's (behind: negative), at each answer. */
    clock(skewMs: number): void;
    /** After each call of the sidecar's own. */
    budget(o: {
        usedLastMinute: number;
        limit: number;
    }): void;
}
