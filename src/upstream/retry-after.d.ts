/**
 * How long a 429 asks to wait, in whole seconds from 1 to 3600 (spec, Errors, rule 1).
 * For `rate_limited` the header wins, since its body always says 60. For every other code the
 * larger of header and body holds. A header that is missing, negative, a date or not a number
 * leaves the body's value; when that is no number either, 5.
 * @param said `code` the error's; `header` the value of Retry-After; `body` the `retryAfter` field
 */
export declare function retryAfterSeconds(said: {
    code: string;
    header: string | undefined;
    body: unknown;
}): number;
