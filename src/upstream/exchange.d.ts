/** One request and its whole answer, on undici's dispatch: no stream between the socket and us. */
import type { Dispatcher } from 'undici';
import { type Failure } from './errors.ts';
/** What is sent, and how long it may take. */
export interface Exchange {
    options: Dispatcher.DispatchOptions;
    /** Most bytes of body that are read of the answer. */
    maxBytes: number;
    /** What the whole exchange may take from now on, in milliseconds; at least 1. */
    timeoutMs: number;
    /** Ends the exchange. */
    signal: AbortSignal | undefined;
    /** Nothing is begun any more; the end of the pool ends what is under way. */
    stopping: AbortSignal;
}
/** An answer as it came. */
export interface Received {
    statusCode: number;
    headers: Dispatcher.ResponseData['headers'];
    body: Buffer;
    /** When its headers were there, by `Date.now()`. */
    gotAtMs: number;
}
/** Sends it once. Never throws and never follows; whatever ends it before its end is a failure. */
export declare function exchange(pool: Dispatcher, sent: Exchange): Promise<Received | Failure>;
