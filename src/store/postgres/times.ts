/** Bounds of the database's silence, in ms. `test/relations.test.ts` checks their relations. */

/** Time limit for making a connection. */
export const CONNECT_MS = 1000
/** Time limit for a response, after which the database counts as lost. */
export const ANSWER_MS = 1000
/** How often a session that holds locks asks: with the wait for an answer less than `PROVEN_MS`. */
export const BEAT_MS = 750
/**
 * How long after its last answer a session is surely alive at the server. Locks and rows of other
 * sidecars count for the same time.
 */
export const PROVEN_MS = 2000
/**
 * After as long without a query the server ends a session that holds locks. It is longer than
 * `PROVEN_MS`: a former holder has stopped using a lock well before another process acquires it.
 */
export const SILENT_SESSION_MS = 3500
/**
 * A transaction of a stopped or disconnected process is rolled back after as long without a
 * statement: before others give up waiting for its locks.
 */
export const SILENT_TRANSACTION_MS = 3500

/** Time limits of a statement: waiting for a lock, and in all. */
export const LOCK_MS = 10_000
export const STATEMENT_MS = 20_000
/** Time limit for a lock in the session, which all stores share, so that none delays the others. */
export const SESSION_LOCK_MS = 20

/** After as long a pending query makes the session check whether the database still responds. */
export const SLOW_MS = 500
/** How often the pool checks for slow queries: a loss is reported within `PROVEN_MS`. */
export const LOOK_MS = 250
/** After so long an answer that the server has given is lost on its way. */
export const LOST_MS = 1000
