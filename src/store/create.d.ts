/** Begins the names of databases that are not in their place yet. */
export declare const UNFINISHED = "postern.db.new-";
/** Begins the names of copies that are not with whoever asked for them yet. */
export declare const COPY = "postern.backup-";
/**
 * Puts an empty database of the newest version in its place, whole: it is made under another name
 * and linked, so that neither a crash nor a second process can leave half of one, or replace one.
 * When another process was first, its database stays.
 * @throws an error of node:fs or node:sqlite; OperatorError `data-dir`
 */
export declare function createDatabase(dataDir: string): Promise<void>;
/**
 * Writes the marker that says for good that a store is here, and clears away what creations and
 * backups that died have left. Call while holding the database.
 */
export declare function settle(dataDir: string): void;
/**
 * Gives a finished database its name, whatever crashes meanwhile.
 * @returns false when another one has it, which stays
 * @throws an error of node:fs; OperatorError `data-dir`
 */
export declare function putInPlace(unfinished: string, dataDir: string): boolean;
