/** Packet types by number (RFC 9580, 5). */
export declare const TAG: {
    readonly pkesk: 1;
    readonly signature: 2;
    readonly skesk: 3;
    readonly onePassSignature: 4;
    readonly secretKey: 5;
    readonly publicKey: 6;
    readonly secretSubkey: 7;
    readonly compressed: 8;
    readonly symmetricallyEncrypted: 9;
    readonly marker: 10;
    readonly literal: 11;
    readonly trust: 12;
    readonly userId: 13;
    readonly publicSubkey: 14;
    readonly userAttribute: 17;
    readonly seipd: 18;
    readonly padding: 21;
};
export interface Packet {
    tag: number;
    /** The body, de-framed: partial chunks joined. */
    body: Uint8Array;
}
/** Thrown for framing that is refused; the message names the reason, never content. */
export declare class FramingError extends Error {
}
/** Packets of this range that are unknown may be passed over (RFC 9580, 4.3). */
export declare function isIgnorable(tag: number): boolean;
/** A length as it stands in a header (RFC 9580, 4.2). */
export interface PacketLength {
    /** Of the body, or of a chunk that others follow; Infinity for a body that runs to the end. */
    bytes: number;
    partial: boolean;
    /** How many bytes it takes itself. */
    size: number;
}
/** Bytes that a length of the new format takes, by its first one (RFC 9580, 4.2.1). */
export declare function newLengthSize(first: number): number;
/** Reads a length of the new format at `at`. @throws FramingError when it is cut short */
export declare function newLength(bytes: Uint8Array, at: number): PacketLength;
/** Bytes that a length of the old format takes, by the header's first byte (RFC 9580, 4.2.2). */
export declare function oldLengthSize(header: number): number;
/**
 * Reads a length of the old format at `at`; the indeterminate one runs to the end and is for data
 * packets alone.
 * @throws FramingError when it is cut short, or may not be there
 */
export declare function oldLength(header: number, bytes: Uint8Array, at: number): PacketLength;
export declare const isNewFormat: (header: number) => boolean;
/** The type in a header's first byte. @throws FramingError when that begins no packet */
export declare function tagOf(header: number): number;
/**
 * Holds the chunks of a body to their bounds (RFC 9580, 4.2.1.4): partial lengths are for data
 * packets, of 512 bytes and more.
 * @param count of chunks with this one
 * @throws FramingError
 */
export declare function checkChunk(tag: number, { bytes, partial }: PacketLength, count: number): void;
/** Type of the packet that begins at `at`, where its body begins, and its first length. @throws */
export declare function headerAt(bytes: Uint8Array, at: number): {
    tag: number;
    start: number;
    length: PacketLength;
};
/**
 * Gives the packets of a binary sequence, one at a time and without copying whole bodies.
 * @throws FramingError for a bad header, a length beyond the end, or chunks outside the bounds
 */
export declare function packetsOf(bytes: Uint8Array): Generator<Packet>;
/** The packet that begins at `at`, and where the next one does. @throws as `packetsOf` */
export declare function packetAt(bytes: Uint8Array, at: number): Packet & {
    next: number;
};
/** The number, most significant byte first, that so many bytes stand for. */
export declare function numberAt(bytes: Uint8Array, at: number, count: number): number;
/** Writes one packet in the new format with a definite length (RFC 9580, 4.2.1). */
export declare function framePacket(tag: number, body: Uint8Array): Buffer;
/** Bytes of what `framePacket` makes of a body of so many. */
export declare function framedLength(length: number): number;
/** How a body is framed: with one length, or in partial chunks (RFC 9580, 4.2.1.4). */
export type Framing = 'whole' | 'partial';
/** Frames a body that comes in parts, without joining them: gives the packet in parts. */
export declare function framedParts(tag: number, parts: Uint8Array[], framing: Framing): Uint8Array[];
