/**
 * The part of a file that a request asks for (RFC 9110, 14). The package `range-parser` answers
 * `bytes=-N` for a longer N than the file, and `bytes=9-5`, as unsatisfiable; RFC 9110 gives all.
 */
/** Positions of bytes: from `start` up to, not including, `end`. */
export interface ByteRange {
    start: number;
    end: number;
}
/**
 * Reads the `Range` of a GET against a file.
 * @param asked `ifRange` names the content that the range is of: of any other, all is given
 * @returns null where all is asked for, which is also what several ranges and malformed ones get;
 *   `unsatisfiable` where there is nothing of it
 */
export declare function readRange(asked: {
    range: string | undefined;
    ifRange: string | undefined;
}, file: {
    bytes: number;
    tag: string;
}): ByteRange | 'unsatisfiable' | null;
