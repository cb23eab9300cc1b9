import { type ArmorType } from './armor-lines.ts';
/**
 * Takes the text of one armored block. Gives its bytes, or null when it is anything but exactly
 * one block of that type: text around it, another END line, bad base64, a wrong checksum.
 * @param room where the bytes may be put, instead of into memory of their own
 */
export declare function dearmor(text: string, type: ArmorType, room?: Buffer): Uint8Array | null;
/**
 * Writes an armored message without headers (RFC 9580, 6.1). The checksum is there only where a
 * reader needs it: GnuPG 2.2 takes the END line for data when nothing before it ends the base64,
 * neither padding nor a checksum.
 */
export declare function armorMessage(bytes: Uint8Array): string;
/** Length in characters of what `armorMessage` makes of so many bytes. */
export declare function armoredLength(bytes: number): number;
/**
 * Takes an armored text. Gives its bytes when it is one block whose lines, all but the last, have
 * the same length; null for everything else, which `dearmor` reads line by line.
 * @param room where they are put, if they fit; memory of their own where none is given
 */
export declare function plainArmor(text: string, type: ArmorType, room?: Buffer): Buffer | null;
