/** A path to listen on, and how to leave nothing behind. */
export interface Place {
    path: string;
    /** Removes the socket, and what was made for it. */
    clear(): void;
}
/**
 * Makes room for a socket. What a dead process left is removed first.
 * @param dataDir absolute, existing, 0700 and of this user
 * @param runtimeDir XDG_RUNTIME_DIR, which is taken before a shared folder for temporary files
 * @throws NotPrivateError when `dataDir` is not this user's alone; an error of node:fs, also
 *   ENAMETOOLONG when no folder will do
 */
export declare function makePlace(dataDir: string, runtimeDir: string | null): Place;
