/**
 * What a store that was copied knows of that. A copy carries a note; a store that has it was
 * restored, and what happened after the copy was taken is not in it.
 */
import type { DatabaseSync } from 'node:sqlite';
import { OperatorError } from '../errors.ts';
import type { Store } from './store.ts';
/** A stretch of time that the memory against replays knows nothing of, in ms since the epoch. */
export interface Gap {
    fromMs: number;
    toMs: number;
}
/** Writes the note into a copy; a copy of a copy keeps the time of the first. */
export declare function writeNote(copy: DatabaseSync, takenAt: string): void;
/** When the copy that a database is was taken, ISO 8601; null when it is none. */
export declare function readNote(database: DatabaseSync): string | null;
/** When the backup was taken that a store was restored from; null when it was not, or is accepted. */
export declare function restoredFrom(store: Store): Promise<string | null>;
/**
 * Takes a restored store as the one that counts from now on.
 * @param o `isLatest`: nothing ran after the backup was taken, so that nothing is missing. Else
 *   signatures dated between the backup and now are not known, and count as seen before
 * @throws Refusal `postern_store_unwritable`
 */
export declare function acceptRestored(store: Store, o: {
    isLatest: boolean;
}): Promise<void>;
/** What the memory against replays does not reach, although it is not too old. */
export declare function memoryGaps(store: Store): Promise<Gap[]>;
/** The refusal to run on a store that was restored and not accepted. */
export declare function restored(dataDir: string, takenAt: string): OperatorError;
