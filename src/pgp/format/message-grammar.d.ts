/**
 * The grammar of what stands inside an encrypted message (RFC 9580, 10.3): which packets may follow
 * each other, and which signature belongs to which one-pass packet. Messages that are at hand
 * (`decrypted-message.ts`) and files that arrive in pieces (`decrypted-stream.ts`) are both read by
 * it.
 */
import type { SignatureClaim } from '../engine.ts';
import { type Packet } from './packets.ts';
import type { ParsedSignature } from './signature-claim.ts';
/** Compression algorithms (RFC 9580, 9.4). */
export declare const COMPRESSION: {
    readonly none: 0;
    readonly zip: 1;
    readonly zlib: 2;
    readonly bzip2: 3;
};
/** Of a literal: its format and the length of its name come first; a date follows the name. */
export declare const LITERAL_START_BYTES = 2;
/** Bytes between the start of a literal and its document; null where it is none that is read. */
export declare function literalHeaderBytes([format, nameBytes]: Uint8Array): number | null;
/** What is wrong with a message inside, in words that never tell its content. */
export type Damage = 'structure' | 'literal' | 'one-pass' | 'compression' | 'encoding' | 'too-many-packets' | 'too-many-signatures';
/** Why a message is read no further. */
export type ReadFailure = {
    outcome: 'damaged';
    reason: string;
} | {
    outcome: 'too-large';
    reason: 'text' | 'file' | 'decompressed' | 'form';
};
export declare const damaged: (reason: Damage) => ReadFailure;
/** Data and signatures as they stand together. */
export interface PacketOrder {
    data: Packet;
    onePass: Packet[] | null;
    signatures: Packet[];
}
/** Data; or one-pass signatures, data, as many signatures; or signatures, data. Null for the rest. */
export declare function packetOrder(packets: Packet[], dataTag: number): PacketOrder | null;
/** The signatures on a document, of which nothing is verified yet. */
export interface ReadSignatures {
    claims: ParsedSignature[];
    /** Signature packets, framed, in the order of `claims`. */
    signaturePackets: Uint8Array[];
}
/**
 * Reads the signatures that stand on a document.
 * @param claimOf reads a signature packet's body; null for a kind that is never on a message
 * @returns null when one does not agree with its one-pass packet
 */
export declare function readSignatures(order: PacketOrder, claimOf: (body: Uint8Array) => ParsedSignature | null): ReadSignatures | null;
/** A signature around compressed data is no statement that programs agree on: it counts as none. */
export declare const NO_SIGNATURES: ReadSignatures;
/** What is given on of claims. */
export declare function publicClaims(claims: readonly ParsedSignature[]): SignatureClaim[];
