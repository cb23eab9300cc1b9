import { type SymmetricKey } from './ciphers.ts';
/** True when `openVersion1` takes the algorithm; others are left to the library. */
export declare function isNativeCipher(algorithm: string): boolean;
/**
 * Takes the container's body and a session key. Gives the packets inside, or null when the key is
 * not the one or a single bit was changed: nothing is looked at before the hash holds.
 */
export declare function openVersion1(container: Uint8Array, sessionKey: SymmetricKey): Uint8Array | null;
/**
 * Undoes `openVersion1`: takes packets and a session key that encrypts nothing else. Gives the
 * container's body.
 * @throws Error for another algorithm or a key of another size
 */
export declare function sealVersion1(packets: Uint8Array, sessionKey: SymmetricKey): Buffer;
/** Opens one piece by piece. What it gives must not reach anybody before `end` is true. */
export declare class Version1 {
    #private;
    /** Where the first byte that it gives lies in the ciphertext, behind the random block. */
    readonly prefixBytes: number;
    /** @param key one that `cipherOf` knows */
    constructor(key: SymmetricKey);
    /**
     * Takes the next bytes of the container's body after its version byte; all pieces but the last
     * are whole blocks. Gives the packets inside as far as they are known not to be the hash at the
     * end: none, one or two pieces that follow each other, good until more is asked for.
     */
    update(bytes: Uint8Array): Buffer[];
    /**
     * Ends it. True when nothing was changed and the key was the one; false for everything else that
     * can be wrong, in the same time.
     */
    end(): boolean;
    /** The hash over everything inside, once `end` was true. */
    get digest(): Buffer;
}
