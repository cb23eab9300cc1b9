/** Revocations: those that a certificate's owner made, of whatever date and however weak a hash. */
import { type PublicKey, type SignaturePacket, type Subkey } from 'openpgp';
/** Takes a certificate and its primary key or one of its subkeys: gives the owner's revocations. */
export declare function ownRevocations(key: PublicKey, part: PublicKey | Subkey): Promise<SignaturePacket[]>;
/**
 * Puts the owner's revocations on an earlier copy of a certificate onto another copy, and nothing
 * else: the library's own merging takes in what anybody added, and leaves out a true revocation
 * where a forged one stands already.
 * @returns whether there were any
 */
export declare function carryRevocations(to: PublicKey, earlier: PublicKey): Promise<boolean>;
/**
 * From when on a key's or subkey's signatures do not count, in ms since epoch: Infinity when it was
 * never revoked, and from ever when the reason casts doubt on everything.
 */
export declare function revokedFromMs(key: PublicKey, part: PublicKey | Subkey): Promise<number>;
