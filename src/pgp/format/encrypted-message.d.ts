import type { NotOpened } from '../engine.ts';
import type { ByteReader } from './byte-reader.ts';
import { type StreamedPacket } from './packet-stream.ts';
import { type OwnIds, type ScannedRecipients } from './recipient-scan.ts';
export type { OwnIds } from './recipient-scan.ts';
/** An encrypted message that may be opened: only what concerns us is left of it. */
export interface EncryptedMessage extends ScannedRecipients {
    outcome: 'encrypted';
    /** Body of the one encrypted container (tag 18), de-framed. */
    container: Uint8Array;
    /** SHA-256 of `container`, hex: the identity of the encrypted data. */
    dataDigest: string;
}
/** One that is still arriving: the container's data, behind its version, is still to be read. */
export interface ArrivingMessage extends ScannedRecipients {
    outcome: 'encrypted';
    version: 1 | 2;
    container: StreamedPacket;
}
/**
 * Takes an armored message. Gives what is left of it for us, or why it is not opened:
 * `not-encrypted` when it is no encrypted message at all, `damaged` when it is a broken one,
 * `too-large`, or `not-recipient` when no recipient packet can be ours.
 */
export declare function parseMessage(armored: string, own: OwnIds): EncryptedMessage | NotOpened;
/** Whether an armored text parses as an encrypted message at all, for whomever. */
export declare function looksEncrypted(armored: string): boolean;
/** As `parseMessage`, for bytes without armor. */
export declare function parseMessageBytes(bytes: Uint8Array, own: OwnIds): EncryptedMessage | NotOpened;
/** Reads a message that is arriving up to its container's data. */
export declare function readArriving(reader: ByteReader, own: OwnIds): Promise<ArrivingMessage | NotOpened>;
/** What stands behind the container, where nothing may: null when it is so. */
export declare function readTrailing(reader: ByteReader): Promise<NotOpened | null>;
/** How much of a file is looked at. */
export declare const FORM_BYTES = 4096;
/**
 * Takes the first bytes of a file, `FORM_BYTES` of them where it is that long. Gives in which
 * form it is an encrypted OpenPGP message, or null when it is none: then it is somebody's file.
 * Pictures and words look like packets, too, so the first that counts must be of a known version.
 */
export declare function sealedForm(head: Uint8Array): 'binary' | 'armored' | null;
