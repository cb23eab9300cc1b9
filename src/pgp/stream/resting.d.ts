import { type SymmetricKey } from '../crypto/ciphers.ts';
import type { RawFile } from './raw-file.ts';
/** A document that can be read from any byte on, as often as wanted. */
export declare class RestingFile {
    #private;
    /** @param o `extents` of the document in the file's plain text; `block` of the cipher */
    constructor(raw: RawFile, o: {
        key: SymmetricKey;
        extents: Extents;
        block: number;
    });
    get bytes(): number;
    /** What it takes on the disk. */
    get restingBytes(): number;
    /** Gives the bytes from `start` up to `end`, in pieces of at most 64 KiB. */
    read(start?: number, end?: number): AsyncGenerator<Buffer>;
    close(): Promise<void>;
}
/** Puts a document to rest under a key of its own. */
export declare class RestingWriter {
    #private;
    constructor(raw: RawFile);
    /** Takes the next bytes. @throws as the file's `append` */
    write(piece: Uint8Array): Promise<void>;
    /** Ends it; it can then be read. */
    finish(): Promise<RestingFile>;
}
/** Where the bytes of a document lie in something longer: in order, in as few stretches as can be. */
export declare class Extents {
    #private;
    /** Of the document. */
    get bytes(): number;
    /** The next bytes of the document lie at this position. */
    add(position: number, bytes: number): void;
    /** Where a byte of the document lies. @throws Error when there is no such byte */
    positionOf(offset: number): number;
    /**
     * Stretches of the document from one byte on, up to another, as far as they lie before a
     * position.
     */
    between(start: number, end: number, before: number): Generator<{
        position: number;
        bytes: number;
    }>;
}
