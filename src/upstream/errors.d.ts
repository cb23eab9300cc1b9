import { NoResponseError } from '../errors.ts';
/** Why nobody usable answered, as far as it matters for what may be repeated. */
export type FailureKind = 
/** No byte of an answer came: refused, reset, no such host, no connection in time. */
'unreached'
/** Somebody is there who cannot prove to be the service; the token was not sent. */
 | 'untrusted'
/** The connection ended within an answer. */
 | 'cut'
/** Time ran out. */
 | 'late'
/** Something answered that is not the service, or not in its language. */
 | 'unusable'
/** The caller went away, or the sidecar is stopping. */
 | 'given-up';
export interface Failure {
    kind: FailureKind;
    error: NoResponseError;
    /** HTTP status of what answered; null when none was read. */
    status: number | null;
}
/**
 * What an error of undici, of a socket or of TLS means. Only its code is kept, never its message:
 * a parser's error carries the bytes that it could not read.
 * @param stage `before`: no complete header of an answer was read; `within`: it was
 */
export declare function failureOf(error: unknown, stage: 'before' | 'within'): Failure;
/** Time ran out. `detail` is a code or a few words of our own. */
export declare function late(detail?: string): Failure;
/** What answered is not the service. `detail` is of our own making, nothing that was received. */
export declare function unusable(detail: string, status?: number | null): Failure;
/** Nobody waits for the answer any more. */
export declare function givenUp(): Failure;
