import { ApiError } from './error.ts';
/** What every answer of the service is: a result, or an error with the HTTP line's status. */
export type Envelope = {
    ok: true;
    result: unknown;
} | {
    ok: false;
    error: ApiError;
};
/**
 * Reads an answer's parsed JSON against its HTTP status (spec, What the service does, 2).
 * Takes any JSON value. Gives the envelope, or null when it is not one: no `result`, an error
 * under a 2xx line, a success under any other, a status that HTTP does not have, two that differ, or
 * a code that only we give.
 */
export declare function readEnvelope(json: unknown, httpStatus: number): Envelope | null;
