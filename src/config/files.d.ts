/** What the file was when it was read. */
export interface FileFacts {
    regular: boolean;
    mode: number;
    uid: number;
}
/**
 * Reads a whole file, or a pipe, up to a bound.
 * @param path relative to the working directory, or absolute; symbolic links are followed
 * @returns its text and facts, or the problem: missing, unreadable, a folder, too large, not UTF-8
 */
export declare function readBounded(path: string, maxBytes: number): {
    text: string;
    facts: FileFacts;
} | {
    problem: string;
};
