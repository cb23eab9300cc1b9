import type { DatabaseSync } from 'node:sqlite';
/**
 * Brings the write-ahead log to the disk without holding anything else up: what was committed
 * without waiting for it is there when this is done (sqlite.org/wal.html).
 */
export declare class LogSync implements AsyncDisposable {
    #private;
    /** @param file where the log of the database lies; it need not be there yet */
    constructor(database: DatabaseSync, file: string);
    /** Runs a transaction whose COMMIT does not wait for the disk; nothing else may run meanwhile. */
    unsynced<T>(transaction: () => Promise<T>): Promise<T>;
    /**
     * Resolves when all that was written before the call is on the disk. Who asks while one is under
     * way shares the one after it with all others who do.
     * @throws an error of node:fs
     */
    sync(): Promise<void>;
    /**
     * To be called before anything is written. Once the disk has failed to take the log, the system
     * forgets what it failed to write, and what comes behind that gap would be lost with it: so all
     * that stands in the log is brought into the database first.
     * @throws an error of node:sqlite
     */
    mend(): void;
    [Symbol.asyncDispose](): Promise<void>;
}
