/** The ciphers that node:crypto has (RFC 9580, 9.3); all others are the library's. */
export interface CipherInfo {
    keyBytes: number;
    blockBytes: number;
    /** Names in OpenSSL; ECB only where the block is four words. */
    cfb: string;
    ecb?: string;
}
/** By the names that openpgp.js has for them. */
export declare const CIPHERS: {
    readonly aes128: {
        readonly keyBytes: 16;
        readonly blockBytes: 16;
        readonly cfb: 'aes-128-cfb';
        readonly ecb: 'aes-128-ecb';
    };
    readonly aes192: {
        readonly keyBytes: 24;
        readonly blockBytes: 16;
        readonly cfb: 'aes-192-cfb';
        readonly ecb: 'aes-192-ecb';
    };
    readonly aes256: {
        readonly keyBytes: 32;
        readonly blockBytes: 16;
        readonly cfb: 'aes-256-cfb';
        readonly ecb: 'aes-256-ecb';
    };
    readonly tripledes: {
        readonly keyBytes: 24;
        readonly blockBytes: 8;
        readonly cfb: 'des-ede3-cfb';
    };
};
/** AES by number: the ciphers of session keys that are wrapped and unwrapped natively. */
export declare const CIPHER_NAME: {
    readonly 7: 'aes128';
    readonly 8: 'aes192';
    readonly 9: 'aes256';
};
export type CipherId = keyof typeof CIPHER_NAME;
/** Ciphers that a sealed message may use. */
export type Cipher = 'aes256' | 'aes128';
export declare const CIPHER_ID: {
    readonly aes128: 7;
    readonly aes256: 9;
};
export declare function isCipher(id: number): id is CipherId;
export declare function keyBytesOf(id: CipherId): number;
/** A key by the name of its cipher. */
export interface SymmetricKey {
    algorithm: string;
    data: Uint8Array;
}
/** The cipher of a key; null where node:crypto has none of that name, or the key does not fit it. */
export declare function cipherOf({ algorithm, data }: SymmetricKey): CipherInfo | null;
export declare function cipherNamed(algorithm: string): CipherInfo | null;
