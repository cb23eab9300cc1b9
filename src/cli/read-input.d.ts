/**
 * Reads a whole input.
 * @param file its path; stdin when absent or `-`
 * @param o `maxBytes`; `what` it is, for a person who is asked to paste it, and for refusals
 * @throws OperatorError `refused` when it is larger, `failed` when it cannot be read
 */
export declare function readInput(file: string | undefined, o: {
    maxBytes: number;
    what: string;
}): Promise<Buffer>;
