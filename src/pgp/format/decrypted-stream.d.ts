import { ByteReader } from './byte-reader.ts';
import { type ReadSignatures, type ReadFailure } from './message-grammar.ts';
/** A document that went by, with the signatures that stand on it. */
export interface StreamedDocument extends ReadSignatures {
    outcome: 'document';
    bytes: number;
    /** What each signature was made over, in the order of `claims`. */
    digests: Uint8Array[];
}
/** Compressed by the one algorithm that the platform lacks: its packet, to be unpacked later. */
export interface StillCompressed {
    outcome: 'compressed';
    packet: Uint8Array;
    /** A signature around compressed data is no statement that programs agree on: it is dropped. */
    signedAround: boolean;
}
export type ReadDocument = StreamedDocument | StillCompressed | ReadFailure;
/** Where the document's bytes go. */
export interface DocumentSink {
    /** Takes the next; `position` is where they lie in what is read, null when they were unpacked. */
    take(piece: Uint8Array, position: number | null): void | Promise<void>;
}
/** Reads decrypted packets to their end, or to what is wrong with them. */
export declare function readDocument(reader: ByteReader, sink: DocumentSink): Promise<ReadDocument>;
/** The same for what came out of compressed data, in which no further compression may stand. */
export declare function readUnpacked(reader: ByteReader, sink: DocumentSink): Promise<ReadDocument>;
/** A document as if nobody had signed it. */
export declare function withoutSignatures(found: ReadDocument): ReadDocument;
