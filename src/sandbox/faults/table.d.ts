/**
 * Faults by name, and when each strikes. `before`: the request is not handled and changes nothing.
 * `after`: the request is handled, and its response is damaged. `rule`: a rule of the service works
 * otherwise. `lie`: a hostile service changes the response.
 */
export declare const FAULTS: {
    /** Closes the connection without handling the request. */
    readonly cut: 'before';
    /** Never answers. */
    readonly hang: 'before';
    /** Waits `delayMs` of real time, then goes on as usual. */
    readonly delay: 'before';
    /** Answers with an error of any `status`, `code`, `retryAfter`, `retryAfterHeader`, `expected`. */
    readonly error: 'before';
    /** Answers with exactly this `status`, `headers` and `body`. */
    readonly answer: 'before';
    /** Answers with an HTML page and `status` (502), as a proxy would. */
    readonly html: 'before';
    /** Answers with a redirect: `status` (302) to `location`. */
    readonly redirect: 'before';
    /** Handles the request, then closes the connection instead of answering. */
    readonly 'lost-answer': 'after';
    /** Handles the request, and closes the connection after half of the response. */
    readonly 'half-answer': 'after';
    /** Sends one byte of the response body every `delayMs`. */
    readonly 'slow-body': 'after';
    /** Appends `bytes` of blanks to the response body. */
    readonly 'giant-body': 'after';
    /** Drops the last character of the response body. */
    readonly 'invalid-json': 'after';
    /** Ignores `offset`, so that confirmed updates come again. */
    readonly 'keep-confirmed': 'rule';
    /** Answers `PUT /key` at once, and applies it after `delayMs` of the sandbox's clock. */
    readonly 'late-key': 'rule';
    /**
     * The service behaves in every way as if `chatId` had `mode` (and `historyVisible`); phones go by
     * the true mode. Lasts until it is cleared.
     */
    readonly 'claim-mode': 'rule';
    /** Every response shows `chatId` with the kind `kind`. */
    readonly 'claim-kind': 'lie';
    /** `/me` claims that the bot has no key. */
    readonly 'claim-unprotected': 'lie';
    /** `/me` shows `fingerprint` instead of the bot's. */
    readonly 'claim-fingerprint': 'lie';
    /** Key lists and key records show `publicKey` and `fingerprint` for `userId`. */
    readonly 'swap-key': 'lie';
    /** Key lists (of `chatId`) also name `userId` with `publicKey` and `fingerprint`. */
    readonly ghost: 'lie';
    /** Key lists (of `chatId`) leave out `userId`. */
    readonly 'hide-key': 'lie';
};
export type FaultName = keyof typeof FAULTS;
export type FaultPhase = (typeof FAULTS)[FaultName];
/** How a fault strikes. Options that a fault does not use are ignored. */
export interface FaultOptions {
    /** Name of an endpoint (src/api/endpoints.ts), or `media`; every call when absent. */
    route?: string;
    botId?: number;
    /** Strikes so many times; without end when absent. */
    times?: number;
    /** Lets so many calls pass first. */
    after?: number;
    /** Strikes one call in so many, at random as `seed` determines. */
    oneIn?: number;
    seed?: number;
    delayMs?: number;
    bytes?: number;
    status?: number;
    code?: string;
    retryAfter?: number;
    retryAfterHeader?: string;
    expected?: 'text' | 'armored';
    headers?: Record<string, string>;
    body?: string;
    location?: string;
    chatId?: number;
    mode?: 'open' | 'protected';
    historyVisible?: boolean;
    kind?: string;
    userId?: number;
    publicKey?: string;
    fingerprint?: string;
}
