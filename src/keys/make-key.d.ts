import type { Engine, UnlockedKey } from '../pgp/engine.ts';
/** A key that was made and tried, and what the store is to keep of it. */
export interface MadeKey {
    row: {
        fingerprint: string;
        created_at: number;
        certificate: string;
        locked: string;
    };
    unlocked: UnlockedKey;
}
/**
 * Makes a key and tries it: what is sealed to its certificate must be opened and verified with
 * what the locked block gives back. Nothing is kept of it yet.
 * @param o `passphrase` the store's master secret; `certifiedBy` the key before it
 * @throws Error when the key is of no use
 */
export declare function makeKey(engine: Engine, o: {
    userId: string;
    passphrase: string;
    certifiedBy: UnlockedKey | undefined;
}): Promise<MadeKey>;
