import { type SymmetricKey } from './ciphers.ts';
/** Decrypts one ciphertext, piece by piece. */
export declare class CfbDecipher {
    #private;
    readonly blockBytes: number;
    /**
     * @param key one that `cipherOf` knows
     * @param before the ciphertext block before the first; absent: the first is the first
     * @throws Error for any other key
     */
    constructor(key: SymmetricKey, before?: Uint8Array);
    /**
     * Gives the plain text of one piece, which is good until the next is asked for.
     * @param bytes whole blocks, but for the last piece of all
     * @throws Error for a piece after one that did not end with a block
     */
    update(bytes: Uint8Array): Buffer;
}
