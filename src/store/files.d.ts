/** Modes of what the data directory holds, whatever the umask says. */
export declare const DIR_MODE = 448;
export declare const FILE_MODE = 384;
/**
 * Writes a small file whole: either the old content or the new is there after a crash, and the
 * new is on disk when this returns. Mode 0600.
 * @throws an error of node:fs; the old file is then as it was
 */
export declare function writeDurably(file: string, text: string): void;
/** Makes a new, empty file of mode 0600. @throws an error of node:fs: EEXIST when it is there */
export declare function createEmpty(file: string): void;
/** Puts the names in a directory on disk. */
export declare function syncDirectory(directory: string): void;
/** Puts what a file holds on disk. */
export declare function syncFile(file: string): void;
/** The code of a file system error (`ENOSPC`), or null for any other. */
export declare function errnoOf(error: unknown): string | null;
