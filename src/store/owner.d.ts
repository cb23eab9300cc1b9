/** Who holds a store. For people only: the lock is SQLite's, and a process id proves nothing. */
export interface Owner {
    pid: number;
    host: string;
    /** ISO 8601, UTC. */
    startedAt: string;
}
/**
 * Writes who we are. Call while holding the lock. Where the disk is full, what the last owner left
 * goes all the same: better no name than a false one.
 */
export declare function claim(dataDir: string): void;
/** Takes our name away again. */
export declare function release(dataDir: string): void;
/** Gives what the holder wrote, or null when that is missing or cannot be believed. */
export declare function readOwner(dataDir: string): Owner | null;
