/** What is not its owner's alone, and why. */
export declare class NotPrivateError extends Error {
    readonly path: string;
    /** Goes on from the path: `is a symbolic link`. */
    readonly reason: string;
    constructor(path: string, reason: string);
}
/**
 * The user whose socket, pointer and folder may be used for a data directory: its owner, who must be
 * this process's user. Root may use anybody's, as `sudo postern status` does, and then only what is
 * that owner's too. A link to the directory is followed: it is the operator's.
 * @returns null when there is no such directory
 * @throws NotPrivateError when it is another user's, or open to others
 */
export declare function ownerOf(dataDir: string): number | null;
/**
 * Sees that something is its owner's alone, and no link.
 * @returns false when it is not there
 * @throws NotPrivateError
 */
export declare function isPrivate(path: string, expected: Expected): boolean;
/**
 * Whether others cannot replace a folder by renaming: what holds it is the owner's or root's, and
 * either closed to others' writing or, as /tmp is, sticky.
 */
export declare function isHeldFast(folder: string, owner: number): boolean;
interface Expected {
    kind: 'folder' | 'socket' | 'file';
    /** User id. */
    owner: number;
}
export {};
