/** The kinds of keys that are used natively, by their numbers; a new one is added here. */
import type { AlgorithmInfo, NativePublicKey, RecipientAlgorithm, RecipientKey, SignatureAlgorithm, SigningKey } from './algorithm.ts';
import type { CipherId } from './ciphers.ts';
/** Greatest length of a public key of either use. */
export declare const RECIPIENT_POINT_BYTES: number;
export declare const SIGNING_POINT_BYTES: number;
/** The kind of key with a number; null where nothing is sealed to such keys natively. */
export declare function findRecipientAlgorithm(id: number | undefined): RecipientAlgorithm | null;
/** The kind of key with a number; null where such signatures are not verified natively. */
export declare function findSignatureAlgorithm(id: number | undefined): SignatureAlgorithm | null;
/** @throws Error for an algorithm that is not sealed to natively */
export declare function recipientAlgorithm(id: number): RecipientAlgorithm;
/** @throws Error for an algorithm that is not verified natively */
export declare function signatureAlgorithm(id: number): SignatureAlgorithm;
/** The kind of key that openpgp.js describes so; null where it is not used natively. */
export declare function recipientAlgorithmLike(info: AlgorithmInfo): RecipientAlgorithm | null;
/** The same for kinds that sign. */
export declare function signatureAlgorithmLike(info: AlgorithmInfo): SignatureAlgorithm | null;
/** The kind of a key. */
export declare function algorithmOf({ algorithm, }: NativePublicKey): RecipientAlgorithm | SignatureAlgorithm;
export declare function isRecipientKey(key: NativePublicKey): key is RecipientKey;
export declare function isSigningKey(key: NativePublicKey): key is SigningKey;
/** The smallest recipient packet that there is holds so much, by the cipher of the session key. */
export declare function leastWrappedBytes(cipher: CipherId): number;
