/**
 * Parses JSON so that `stringify` writes every number as it was spelt: one that JavaScript would
 * change (beyond 2^53, `1.0`, `1e400`) is kept as raw JSON, which no integer schema accepts.
 * @throws SyntaxError, also for more values than are walked at once
 */
export declare function parseExact(text: string): unknown;
/**
 * The same for an answer of the service: of a long list, one is read after the other, with
 * everything else getting its turn in between.
 * @throws SyntaxError as `parseExact` does
 */
export declare function parseAnswer(text: string): Promise<unknown>;
/** Writes what `parseExact` read. */
export declare function stringify(value: unknown): string;
/**
 * The same for an answer of the service, in which a list may be megabytes: what is in a list is
 * written one by one, with everything else getting its turn in between.
 */
export declare function stringifyAnswer(answer: Record<string, unknown>): Promise<Buffer>;
/** How often a name stands in a text that is JSON: one that is doubled counts each time. */
export declare function countNames(text: string): number;
/** True for a number that `parseExact` kept as it was spelt: an object that is none. */
export declare function isRawNumber(value: unknown): boolean;
/**
 * Parses a request body. Takes its bytes.
 * @throws Refusal `bad_request`: not UTF-8, not JSON, nested beyond 32, a key twice in one object,
 *   a key named `__proto__`, or a string that holds a lone surrogate
 */
export declare function parseBody(bytes: Buffer): unknown;
