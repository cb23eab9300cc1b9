/** Bounds of the database's silence, in ms. `test/relations.test.ts` checks their relations. */

/** How long a connection may take to be made. */
export const CONNECT_MS = 1000
/** How long an answer may take before the database counts as lost. */
export const ANSWER_MS = 1000
/** How often a session that holds locks asks: with the wait for an answer less than `PROVEN_MS`. */
export const BEAT_MS = 750
/**
 * How long after its last answer a session is surely alive at the server. Locks and rows of other
 * sidecars count for the same time.
 */
export const PROVEN_MS = 2000
/**
 * After so long without a word the server ends a session that holds locks. It is longer than
 * `PROVEN_MS`: whoever had a lock has stopped to act on it well before another one gets it.
 */
export const SILENT_SESSION_MS = 3500
/**
 * A transaction whose process says nothing for so long, stopped or cut off, is rolled back: before
 * others that wait for its locks give up.
 */
export const SILENT_TRANSACTION_MS = 3500

/** What a statement may wait for a lock, and take in all. */
export const LOCK_MS = 10_000
export const STATEMENT_MS = 20_000
/** What the session waits for a lock, which all stores of a process share: none holds the others up. */
export const SESSION_LOCK_MS = 20

/** Queries that take longer make the session ask whether the database still answers. */
export const SLOW_MS = 500
/** How often the pool checks for slow queries: a loss is reported within `PROVEN_MS`. */
export const LOOK_MS = 250
/** After so long an answer that the server has given is lost on its way. */
export const LOST_MS = 1000
