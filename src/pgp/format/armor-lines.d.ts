/** ASCII armor (RFC 9580, 6.2) read line by line: of a text at hand, or of bytes as they arrive. */
import type { ByteReader } from './byte-reader.ts';
/** Block types that are ever read. */
export type ArmorType = 'MESSAGE' | 'PUBLIC KEY BLOCK' | 'PRIVATE KEY BLOCK';
export declare const beginLine: (type: ArmorType) => string;
export declare const endLine: (type: ArmorType) => string;
export declare const HEADER_LINE: RegExp;
/** Gives the bytes of one armored block; null when it is anything but exactly that. */
export declare function dearmorLines(text: string, type: ArmorType): Buffer | null;
/**
 * Gives the bytes of an armored message that is arriving.
 * @throws FramingError `armor` for anything but one block, alone, with a checksum that holds
 */
export declare function dearmored(reader: ByteReader): AsyncGenerator<Uint8Array>;
