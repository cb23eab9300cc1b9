/** Our own keys as they are used natively: what the library says of each, with its secrets. */
import { type KeyObject } from 'node:crypto';
import { type NativePublicKey, type RecipientKey, type SigningKey } from '../crypto/algorithm.ts';
import type { UnlockedKey } from '../engine.ts';
import type { OwnKeyInfo } from '../library/certificate-info.ts';
import { type CertificateInfo } from './certificate-info.ts';
/** One secret key, primary or subkey, as node:crypto takes it. */
export interface OwnSecret<K extends NativePublicKey = NativePublicKey> {
    key: K;
    /** Of that key, 20 bytes. */
    fingerprint: Buffer;
    secret: KeyObject;
}
/** Whether it opens what is sealed to it. */
export declare function isRecipientSecret(own: OwnSecret): own is OwnSecret<RecipientKey>;
/**
 * Takes an unlocked transferable secret key. Gives those of its keys that are of the common forms,
 * by key id (16 lower-case hexadecimal characters).
 */
export declare function readOwnSecrets(bytes: Uint8Array): Map<string, OwnSecret>;
/** A key of ours, as far as it is of the common forms. */
export interface NativeOwnKey {
    /** Secrets that messages may be opened with, by key id. */
    opens: ReadonlyMap<string, OwnSecret>;
    /** Null when it cannot seal natively now. */
    seals: {
        info: CertificateInfo;
        signer: OwnSecret<SigningKey>;
    } | null;
    /** Whether the library takes session keys of a cipher beyond AES-128 and AES-256. */
    reads(cipher: number): boolean;
}
/** Known for as long as the unlocked key itself is held: a key that is given up is forgotten. */
export declare class NativeOwnKeys {
    #private;
    /** @param describe asks the library */
    constructor(describe: (key: UnlockedKey, atMs: number) => Promise<OwnKeyInfo>);
    /** Gives what a key can do natively now; null when nothing is known of it. */
    of(key: UnlockedKey): Promise<NativeOwnKey | null>;
    /** The same where it is known already; undefined where it must be asked for. */
    now(key: UnlockedKey): NativeOwnKey | null | undefined;
    /** Forgets all secrets. */
    clear(): void;
}
