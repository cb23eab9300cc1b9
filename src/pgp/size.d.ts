import type { AlgorithmInfo } from './crypto/algorithm.ts';
import type { Cipher, CipherSizes, OwnSizes } from './engine.ts';
/** Bytes of a recipient packet, framed, by the cipher of the session key; the greatest possible. */
export declare function recipientBytes(info: AlgorithmInfo): CipherSizes;
/** The same of the smallest recipient packet that there is. */
export declare function leastRecipientBytes(): CipherSizes;
/** Bytes of a signature packet of ours, framed; the greatest possible. */
export declare function signatureBytes(info: AlgorithmInfo): number;
/**
 * What a key of ours takes in every message: the greatest recipient packet of its subkeys, or of
 * the key itself where it has none, and the greatest signature.
 * @param infos of the primary key and its subkeys
 */
export declare function ownBytes(infos: AlgorithmInfo[]): OwnSizes;
/** Of a key as we make them: Ed25519 and Curve25519. */
export declare const AS_MADE: OwnSizes;
/** Why nothing can be sealed, or the cipher with which it fits. */
export type Fit = {
    fits: true;
    cipher: Cipher;
} | {
    fits: false;
    leastChars: number;
};
/**
 * Chooses the cipher for a message: AES-256, or AES-128 where only that lets it fit. What fits here
 * never turns out too large.
 * @param recipients bytes of all recipient packets but our own, by cipher
 * @param o `textBytes` bytes of the text in UTF-8; `maxChars` what the service takes
 *   (`armoredMax`); `own` what the key takes that it is sealed with
 */
export declare function fit(recipients: CipherSizes, { textBytes, maxChars, own }: {
    textBytes: number;
    maxChars: number;
    own: OwnSizes;
}): Fit;
/**
 * How many recipients of one kind fit beside a text, the bot, with a key as we make them, not
 * counted.
 * @param each bytes of one recipient packet, by cipher
 * @param armoredMax what the service takes; we seal no more than we would open
 */
export declare function capacity(each: CipherSizes, textBytes: number, armoredMax: number): number;
/** More recipients than this fit into no message that the service takes. */
export declare const MOST_RECIPIENTS: number;
