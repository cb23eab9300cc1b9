/** Begins the names of the folders that are made for a socket. */
export declare const FOLDER_PREFIX = "postern-control-";
/**
 * Reads it. What it names may be anybody's by now.
 * @param owner user id of the data directory's owner
 * @returns null when there is none, or none as a sidecar writes it
 * @throws NotPrivateError when it is not the owner's own plain file
 */
export declare function readPointer(dataDir: string, owner: number): string | null;
