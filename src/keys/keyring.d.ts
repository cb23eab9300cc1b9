import type { Engine, OwnKey, UnlockedKey } from '../pgp/engine.ts';
import type { Store } from '../store/store.ts';
import { type OwnKeyRecord, type ReadyKey } from './own-key.ts';
/**
 * How many keys open at most, the newest first: what is tried on a message, and unlocked at a
 * start, stays bounded.
 */
export declare const MAX_OPENING = 32;
/** What a new key is locked under, and the key before it, which vouches for it. */
interface Locking {
    passphrase: string;
    certifiedBy: UnlockedKey | undefined;
}
export interface KeyringOptions {
    /** Setting `key.retainDays`, in ms: how long a retired key opens. */
    retainMs: number;
    /** The time by the service's clock, ms since the epoch; null while unknown. */
    serviceNowMs: () => number | null;
}
/**
 * The bot's own keys: everything we can open with, and the one we sign with. What changes here is
 * on disk when it resolves; one key at most is pending, and one active.
 */
export declare class Keyring {
    #private;
    private constructor();
    /**
     * Reads and unlocks the keys in the store, which is first brought under a master secret when it is
     * one of before.
     * @throws OperatorError `store-locked` when a key does not open with the store's master secret,
     *   `store-corrupt` when one in use is another than its row says, `store-unwritable`
     */
    static load(store: Store, engine: Engine, options: KeyringOptions): Promise<Keyring>;
    /** The published key, which signs; undefined before the first publication. */
    get active(): ReadyKey | undefined;
    /** The key that waits for its publication. */
    get pending(): ReadyKey | undefined;
    /** Every key that ever was, the destroyed ones too, newest first. */
    get all(): readonly OwnKeyRecord[];
    /** Fingerprints of all keys that ever were ours, primary keys and subkeys. */
    get fingerprints(): ReadonlySet<string>;
    /** What messages are opened with now, the likeliest first. */
    get unlocked(): UnlockedKey[];
    /** When any key of ours was first published: from then on private chats are protected. */
    get firstPublishedAtMs(): number | null;
    find(fingerprint: string): OwnKeyRecord | undefined;
    /** Until when a key opens, ms since the epoch; Infinity for one in use, 0 for a destroyed one. */
    opensUntilMs({ state, retiredAtMs }: OwnKeyRecord): number;
    /** Whether a key opens now. Its time is over only when both clocks, ours and the service's, agree. */
    opens(key: OwnKeyRecord): boolean;
    /** The earlier of both clocks: by it, nothing ends too soon. Ms since the epoch. */
    earliestNowMs(): number;
    /**
     * Makes a key, certified by the active one, tries it, and gives it once it is on disk.
     * @param userId free text in the certificate, the bot's name
     * @throws Refusal `postern_store_unwritable`; OperatorError `store-locked`, or `refused` when as
     *   many keys are open as may be
     */
    makePending(userId: string): Promise<ReadyKey>;
    /**
     * Makes a key from elsewhere the pending one; it is on disk when this resolves.
     * @param adopt gives it, certified by the active one and locked under `passphrase`
     * @throws what `adopt` throws, and as `makePending` does
     */
    takePending(adopt: (o: Locking) => Promise<OwnKey>): Promise<ReadyKey>;
    /**
     * Marks, before a publication, that the service may know the key from now on; or, when it has
     * refused it for certain, that it does not.
     * @throws Refusal `postern_store_unwritable`
     */
    markOffered(fingerprint: string, atMs: number | null): Promise<void>;
    /**
     * Makes a confirmed key the active one; the one before it retires, by the later of both clocks.
     * @throws Refusal `postern_store_unwritable`
     */
    promote(fingerprint: string): Promise<void>;
    /**
     * Forgets a pending key that the service never got to see.
     * @throws Refusal `postern_store_unwritable`
     */
    discard(fingerprint: string): Promise<void>;
    /**
     * Destroys the secret of a retired key for good; its certificate stays, so that what it signed
     * can be verified. What can be overwritten on disk is.
     * @throws Refusal `postern_store_unwritable`
     */
    destroy(fingerprint: string): Promise<void>;
}
export {};
