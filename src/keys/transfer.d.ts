import type { Engine } from '../pgp/engine.ts';
import type { Relock } from '../store/move.ts';
import type { Store } from '../store/store.ts';
import type { Keyring } from './keyring.ts';
import type { ReadyKey } from './own-key.ts';
export interface TransferParts {
    store: Store;
    engine: Engine;
    keyring: Keyring;
}
/** Takes secret keys across the border of the store. */
export declare class Transfer {
    #private;
    constructor(parts: TransferParts);
    /**
     * Gives a secret key locked under a passphrase of its own, armored, as gpg imports it.
     * @param fingerprint one of ours
     * @throws OperatorError `refused` when its secret is destroyed
     */
    give(fingerprint: string, passphrase: string): Promise<string>;
    /**
     * Makes a key from elsewhere the pending one; it is on disk when this resolves.
     * @param file armored or binary
     * @param passphrase null when it has none, or none was given
     * @throws OperatorError `refused`, `passphrase` with the reason; Refusal `postern_store_unwritable`
     */
    take(file: Uint8Array, passphrase: string | null): Promise<{
        key: ReadyKey;
        expiresMs: number;
    }>;
    /** Locks keys anew for a store that is moved to another protection. */
    get relock(): Relock;
}
