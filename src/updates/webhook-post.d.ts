/** One POST to a webhook on undici's dispatch: its status counts, its body goes by unread. */
import type { Dispatcher } from 'undici';
/** A connection could not be made; nothing was sent. */
export declare class NotConnectedError extends Error {
    constructor(cause: unknown);
}
/** A connection that had been kept open failed before any answer. */
export declare class StaleConnectionError extends Error {
    constructor(cause: unknown);
}
export interface Post {
    options: Dispatcher.DispatchOptions;
    /** Gives it up, also while the body goes by. */
    signal: AbortSignal;
    /** Asked when the request is written: whether its connection was made for it just now. */
    isNewConnection: () => boolean;
}
/**
 * Sends it once, and never follows.
 * @returns the status of the answer, as soon as its headers are there
 * @throws NotConnectedError, StaleConnectionError, the signal's reason, or what the connection
 *   failed with
 */
export declare function post(dispatcher: Dispatcher, sent: Post): Promise<number>;
