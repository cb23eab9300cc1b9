import type { ErrorExtra, RawAnswer } from '../errors.ts';
/** Header of every answer that says no for us: what the log calls the request. */
export declare const REQUEST_ID = "postern-request-id";
/** What a failed call is answered, and the code that log and metrics name it by. */
export interface FailureAnswer extends RawAnswer {
    code: string;
}
/**
 * The one place where anything thrown becomes an answer in the service's envelope. The service's
 * own no is handed on as it came; what nobody foresaw says nothing at all.
 */
export declare function answerFor(error: unknown): FailureAnswer;
/**
 * Builds an answer in the error envelope (spec, Error object), with `Retry-After` where the body
 * says so (spec, Errors 1).
 */
export declare function failureAnswer(failed: {
    status: number;
    code: string;
    message: string;
    extra?: ErrorExtra;
}): FailureAnswer;
/**
 * What may be logged of an error that nobody foresaw: its kind and where it came from. Its message
 * is left out, because it can hold a person's words.
 */
export declare function traceOf(error: unknown): {
    error: string;
    at: string[];
};
/** True for an error that is nobody's decision and must be looked into. */
export declare function isUnforeseen(error: unknown): boolean;
