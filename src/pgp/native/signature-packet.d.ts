import { type SigningKey, type Statement } from '../crypto/algorithm.ts';
import { type Subpacket } from '../format/signature-claim.ts';
/** A signature as it stands in its packet. */
export interface SignaturePacketForm {
    type: number;
    algorithm: SigningKey['algorithm'];
    hash: Hash;
    hashed: Subpacket[];
    unhashed: Subpacket[];
    /** The packet's body up to the end of the hashed subpackets, which is signed too. */
    hashedPart: Buffer;
    /** The first two bytes of the digest. */
    left: Buffer;
    /** As its algorithm reads them. */
    numbers: Buffer;
}
/** Hash algorithms that are taken, by number (RFC 9580, 9.5). */
declare const HASHES: {
    readonly 8: 'sha256';
    readonly 9: 'sha384';
    readonly 10: 'sha512';
};
type Hash = (typeof HASHES)[keyof typeof HASHES];
/** Reads the body of a signature packet; null for every other form, nothing of it being judged. */
export declare function readSignatureForm(body: Uint8Array): SignaturePacketForm | null;
/** Bytes of the one subpacket of a kind; null when there is none, or more. */
export declare function soleSubpacket(subpackets: readonly Subpacket[], kind: number): Buffer | null;
/** When it says that it was made, in seconds; null unless it says so exactly once. */
export declare function createdS({ hashed }: SignaturePacketForm): number | null;
/**
 * Whether everything that names an issuer names this one, and something does.
 * @param fingerprint of the key, 20 bytes
 */
export declare function isIssuedBy(form: SignaturePacketForm, fingerprint: Uint8Array): boolean;
/**
 * What a signature over some bytes states as a key's (RFC 9580, 5.2.4); null when that cannot be
 * true: it is of another algorithm, or the first bytes of the digest are others.
 */
export declare function statementOf(form: SignaturePacketForm, over: Uint8Array, key: SigningKey): Statement | null;
/** The same for what those bytes hash to, together with the hashed part. */
export declare function statementOn(form: SignaturePacketForm, digest: Uint8Array, key: SigningKey): Statement | null;
export {};
