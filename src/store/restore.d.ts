/**
 * Refuses a directory that a backup may not go into: one that holds a store, or traces of one.
 * @throws OperatorError `refused`, `data-dir`
 */
export declare function refuseOccupied(dataDir: string): void;
/**
 * Restores a backup that `readBackup` has found sound. Its database appears in one step, whole, or
 * not at all; it carries the note that it was restored.
 * @throws OperatorError `refused` when a store is there, or appears; `data-dir`, `store-unwritable`;
 *   `failed` when the copy is not sound
 */
export declare function restore(file: string, dataDir: string): void;
