import { type SigningKey } from '../crypto/algorithm.ts';
import type { OwnSecret } from './own-keys.ts';
/** Packets of a signed text, with the identity of the statement that they make. */
export interface SignedDocument {
    packets: Buffer;
    statementDigest: string;
}
/** Signs a text as of `atMs`. */
export declare function signDocument(text: string, signer: OwnSecret<SigningKey>, atMs: number): SignedDocument;
