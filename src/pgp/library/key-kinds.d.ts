import type { UnlockedKey } from '../engine.ts';
/** How each is made, and for how long it is good where that is not for ever. */
declare const MAKING: {
    /** As the bot's: Ed25519 and Curve25519 in the encodings that every program reads. */
    readonly curve25519: {
        readonly type: 'ecc';
        readonly curve: 'curve25519Legacy';
    };
    /** Version 4 in the newer encodings (RFC 9580, 9.3), which older programs cannot read. */
    readonly x25519: {
        readonly type: 'curve25519';
    };
    readonly p256: {
        readonly type: 'ecc';
        readonly curve: 'nistP256';
    };
    readonly rsa3072: {
        readonly type: 'rsa';
        readonly rsaBits: 3072;
    };
    /** Expired a day after it was made, which was two days ago. */
    readonly expired: {
        readonly type: 'ecc';
        readonly curve: 'curve25519Legacy';
        readonly keyExpirationTime: number;
    };
    readonly revoked: {
        readonly type: 'ecc';
        readonly curve: 'curve25519Legacy';
    };
    /** Signs, and has no subkey to encrypt to. */
    readonly 'sign-only': {
        readonly type: 'ecc';
        readonly curve: 'curve25519Legacy';
        readonly subkeys: [];
    };
    /** Version 6 (RFC 9580, 5.5.2.3), which phones cannot use. */
    readonly v6: {
        readonly type: 'curve25519';
        readonly config: {
            readonly v6Keys: true;
        };
    };
};
export type KeyKind = keyof typeof MAKING;
export declare const KEY_KINDS: [KeyKind, ...KeyKind[]];
/** Makes a key of a kind. `createdMs` is its date, but of an expired one it is two days before. */
export declare function makeKey(o: {
    userId: string;
    kind: KeyKind;
    createdMs: number;
}): Promise<{
    certificate: string;
    key: UnlockedKey;
}>;
export {};
