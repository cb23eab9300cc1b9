import { type SignatureHead } from './signature-claim.ts';
/** How a signature says that it is made, in its one-pass packet or in itself. */
export interface HashUse {
    type: number;
    hashAlgorithm: number;
}
/** Hashes a document once for each way in which its signatures do. */
export declare class DocumentHashes {
    #private;
    /** @param uses one for each signature that stands on the document */
    constructor(uses: readonly HashUse[]);
    /** Takes the next piece of the document. */
    update(piece: Uint8Array): void;
    end(): void;
    /**
     * The hash that a signature is made over; empty where its algorithm is none that is accepted.
     * @param head of a signature of version 4
     */
    digest(head: SignatureHead): Buffer;
    /**
     * The identity of a signed statement: the same as of a message's where the document is no longer
     * than one can be, and else the hash that is signed, which is there already.
     */
    statement(head: SignatureHead): string;
}
/** A text's line ends as they are signed, while it goes by in pieces. */
export declare class LineEnds {
    #private;
    /** Takes the next piece; gives what is certain of it. */
    update(piece: Uint8Array): Uint8Array;
    /** Gives the rest. */
    end(): Uint8Array;
}
