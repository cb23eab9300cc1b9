import type { Outcome } from './attempt.ts';
/** Whether an outcome may be followed by a second attempt of the same call. */
export type RepeatRule = (outcome: Outcome) => boolean;
/** Edits, polls, and what the bot calls with anything but GET: repeating might do it twice. */
export declare const never: RepeatRule;
/** Calls that change nothing: when the connection failed before any answer, not when it was slow. */
export declare const ifUnreached: RepeatRule;
/**
 * Sends, which carry a `sendId` (spec, Errors, rule 3): whenever the answer was lost, since the
 * message may or may not have been written. That is also so when a success cannot be read, or when
 * the failure is the server's own. A 429 or a refusal is an answer.
 */
export declare const ifAnswerLost: RepeatRule;
