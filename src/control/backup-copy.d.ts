/**
 * Where the copy lies: in the data directory, whatever path the sidecar says, which may see it under
 * another. Root takes and removes nothing else at the word of another user's process.
 * @throws OperatorError `failed` when there is no such copy of the owner's
 */
export declare function locateCopy(dataDir: string, named: string): string;
