import { type KeyParts } from './check-key.ts';
import { type ServiceParts } from './check-service.ts';
import { type Finding } from './finding.ts';
export interface CheckParts extends ServiceParts, KeyParts {
    /** Absolute. */
    dataDir: string;
    /** PEM of a private authority; whether calls go through a proxy. */
    tls: {
        ca: string | undefined;
        proxied: boolean;
    };
    /** Why the store does not open; null when it does, or when there never was one. */
    storeProblem: {
        message: string;
        hint: string;
    } | null;
    /** What the store rests under; null without a store, or when it keeps no secrets. */
    protection: 'passphrase' | 'keychain' | 'none' | null;
    /** Names of copies in `dataDir` of a version that locked keys under the passphrase itself. */
    weakCopies: readonly string[];
    /** What a first start will put secrets under, or why it will not; null after that. */
    firstProtection: 'passphrase' | 'keychain' | 'none' | {
        message: string;
        hint: string;
    } | null;
    /** Setting `key.passphraseFile`, absolute. */
    passphraseFile: string | undefined;
    /** What is known of other people; null without a store. */
    people: {
        known: number;
        waiting: number;
        policy: string;
    } | null;
}
/** Looks at everything once; never throws for what it finds. */
export declare function checkAll(parts: CheckParts): Promise<Finding[]>;
