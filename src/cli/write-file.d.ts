/** What goes into the file: a text, or another file. */
type Content = {
    text: string;
} | {
    from: string;
};
/**
 * Refuses a name that is taken, before anything else is done.
 * @throws OperatorError `refused`
 */
export declare function refuseExisting(path: string, o: {
    force: boolean;
}): void;
/**
 * Makes a file of mode 0600; it is on disk, whole, when this returns.
 * @param o `force`: put it in the place of one that is there
 * @returns its absolute path
 * @throws OperatorError `refused` when it is there; `failed` when it cannot be written: nothing is left
 */
export declare function writeNewFile(path: string, content: Content, o: {
    force: boolean;
}): string;
export {};
