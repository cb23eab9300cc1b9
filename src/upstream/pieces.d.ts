import { type Failure } from './errors.ts';
/** A body as it comes in, within bounds. */
export declare class Pieces {
    #private;
    /** @param status of the answer, which a failure names */
    constructor(maxBytes: number, status: number);
    /** Takes a piece in. @returns why the rest need not be read, else null */
    take(piece: Buffer): Failure | null;
    /** All of it. */
    joined(): Buffer;
}
