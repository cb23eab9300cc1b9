import type { NotOpened, OpenedText } from '../engine.ts';
import { type ReadSignatures, type ReadFailure } from './message-grammar.ts';
/** A literal document with the signatures that stand on it. */
export interface DecryptedDocument extends ReadSignatures {
    outcome: 'document';
    document: Uint8Array;
}
export type Decrypted = DecryptedDocument | ReadFailure;
/**
 * Takes decrypted packets and the bound on a document's bytes.
 * @param bunzip decompresses the one algorithm that the platform lacks (bzip2)
 */
export declare function readDecrypted(bytes: Uint8Array, bunzip: (packet: Uint8Array) => Promise<Uint8Array>): Promise<Decrypted>;
/**
 * The same where it costs next to nothing: no compressed data, no signature of unusual size.
 * @returns null for all else
 */
export declare function readUncompressed(bytes: Uint8Array): Decrypted | null;
/**
 * Gives the text that stands in a message, with what is known of its outside. What is no UTF-8 is
 * damaged: a replaced character would be words that the person did not write.
 */
export declare function openedText(decrypted: Decrypted, about: Pick<OpenedText, 'dataDigest' | 'openedWith' | 'recipients'>): OpenedText | NotOpened;
