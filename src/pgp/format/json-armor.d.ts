export declare const ARMOR_START: Buffer<ArrayBuffer>;
export declare const ARMOR_END: Buffer<ArrayBuffer>;
/** Writes bytes as lines, each with its break, the last of which may be shorter. */
export declare function armorLines(bytes: Uint8Array): Buffer;
/** Characters of the armor itself, without a checksum, that so many bytes make. */
export declare function armorChars(bytes: number): number;
/** Recipient packets as they stand at the start of a message. All of it is public. */
export interface ArmoredPackets {
    /** As far as they fill whole lines, escaped for JSON. */
    lines: Uint8Array;
    /** Their bytes after that, fewer than a line holds. */
    rest: Uint8Array;
    /** The register of `Crc24` after all of them. */
    crc: number;
    bytes: number;
}
export declare function armorPackets(packets: Uint8Array): ArmoredPackets;
/** The same of packets that come in parts, in memory that other threads can be let see. */
export declare function armorShared(parts: Uint8Array[]): ArmoredPackets;
