import { type Envelope } from '../api/envelope.ts';
import type { RawAnswer } from '../errors.ts';
import type { Dispatcher } from 'undici';
import { type Failure } from './errors.ts';
import { type AnswerKind } from './one-reading.ts';
/** An answer in the service's envelope, its body as it came where no parser reads another. */
export interface Answer extends RawAnswer {
    envelope: Envelope;
}
/** One HTTP request as it will stand on the wire. */
export interface WireRequest {
    /** Scheme and host; the proxy is chosen by it. */
    origin: string;
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
    /** From the host on, checked. */
    path: string;
    body: string | Buffer | undefined;
    token: string;
    /** What the answer is; `own`: a success stays here, and no bot reads it. */
    answer: AnswerKind | 'own';
    /** Most bytes of body that are read of the answer. */
    maxBytes: number;
    /** What the whole exchange may take from now on, in milliseconds. */
    timeoutMs: number;
    /** Ends the exchange: nobody waits for it any more. */
    signal: AbortSignal | undefined;
    /** Nothing is begun any more; the end of the pool ends what is under way. */
    stopping: AbortSignal;
}
export type Outcome = {
    kind: 'answered';
    answer: Answer;
    skewMs: number | null;
} | (Failure & {
    answer?: never;
});
/**
 * Sends one request, once. Never throws and never follows: whatever is not the service's envelope
 * under a matching status line is a failure (spec, What the service does, 2).
 */
export declare function attempt(pool: Dispatcher, request: WireRequest): Promise<Outcome>;
/**
 * A request that still waits for a connection ignores its signal in undici until it gets one. It
 * is then given up unsent; nobody should wait for that.
 */
export declare function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T>;
/** Reads the whole body of an answer, or says why it need not be read; then the connection is given up. */
export declare function readBody({ statusCode, headers, body }: Dispatcher.ResponseData, maxBytes: number): Promise<Buffer | Failure>;
/**
 * The answer in the envelope, or null when it is not in it. A bot reads in it what we do.
 * @param kind `own`: a success that no bot reads
 */
export declare function readAnswer({ statusCode, headers }: Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'>, body: Buffer, kind: AnswerKind | 'own'): Promise<Answer | null>;
