import type { SignatureClaim } from '../engine.ts';
/** Subpackets that are read or written anywhere here, by number (RFC 9580, 5.2.3.7). */
export declare const SUBPACKET: {
    readonly created: 2;
    readonly keyExpires: 9;
    readonly preferredCiphers: 11;
    readonly issuer: 16;
    readonly notation: 20;
    readonly keyFlags: 27;
    readonly signerUserId: 28;
    readonly issuerFingerprint: 33;
    readonly intendedRecipient: 35;
};
/** Line ends count as CRLF, whatever they are. */
export declare const TEXT = 1;
/** A claim, with what is needed to compare it to its one-pass packet. */
export interface ParsedSignature extends SignatureClaim {
    type: number;
    publicKeyAlgorithm: number;
    hashAlgorithm: number;
}
/** What a signature packet says of how it was made; `hashedPart` is hashed after the document. */
export type SignatureHead = Pick<ParsedSignature, 'type' | 'hashAlgorithm'> & {
    hashedPart: Uint8Array;
};
/**
 * Takes the body of a signature packet and the document it stands on.
 * Gives null for versions and types that are never a signature on a message.
 */
export declare function parseSignature(body: Uint8Array, document: Uint8Array): ParsedSignature | null;
/** The same where the document is not at hand: `digestOf` gives the identity of the statement. */
export declare function readClaim(body: Uint8Array, digestOf: (head: SignatureHead) => string): ParsedSignature | null;
/**
 * Every key id that a signature packet of version 4 names as its maker's, 16 hexadecimal
 * characters each; none when it names none or cannot be read.
 */
export declare function issuerKeyIdsOf(body: Uint8Array): string[];
export interface Subpacket {
    kind: number;
    isCritical: boolean;
    bytes: Buffer;
}
/**
 * Reads an area of subpackets as far as they are whole (RFC 9580, 5.2.3.7).
 * @returns `isPlain` false where one is cut short, or is longer than programs write them
 */
export declare function readSubpackets(area: Uint8Array): {
    subpackets: Subpacket[];
    isPlain: boolean;
};
/**
 * The identity of a signed statement: what is hashed, not the signature's own numbers, which some
 * algorithms let anybody change.
 * @param documentDigest SHA-256 of the document as the signature's type hashes it
 */
export declare function statementDigest(documentDigest: Uint8Array, hashedPart: Uint8Array): string;
/** A text with its line ends as they are signed (RFC 9580, 5.2.4). */
export declare function canonicalText(document: Uint8Array): Uint8Array;
