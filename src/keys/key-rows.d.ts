import type { OwnKeysRow } from '../store/schema.ts';
import type { Store } from '../store/store.ts';
/** Every key, newest first, and when the first of them was published (ms since the epoch). */
export declare function readRows(store: Store): Promise<{
    rows: OwnKeysRow[];
    firstPublishedAtMs: number | null;
}>;
/**
 * Keeps a new key as the pending one.
 * @param lockedUnder the master secret that it was locked under
 * @returns null, with nothing written, when the store has come under another one since
 * @throws OperatorError `refused` when another key is pending; Refusal `postern_store_unwritable`
 */
export declare function insertRow(store: Store, made: {
    fingerprint: string;
    created_at: number;
    certificate: string;
    locked: string;
}, lockedUnder: string): Promise<OwnKeysRow | null>;
/** @param atMs when its publication was begun; null takes that back */
export declare function setOffered(store: Store, fingerprint: string, atMs: number | null): Promise<void>;
/** Makes a key the active one and retires the one before it; `firstMs` counts when it is the first. */
export declare function promoteRow(store: Store, { fingerprint, nowMs, firstMs }: {
    fingerprint: string;
    nowMs: number;
    firstMs: number;
}): Promise<void>;
/** Deletes a pending key that was never offered. @returns whether there was one */
export declare function deleteUnoffered(store: Store, fingerprint: string): Promise<boolean>;
/** Drops the secret of a retired key, and leaves the rest of it. @returns whether there was one */
export declare function eraseSecret(store: Store, fingerprint: string, nowMs: number): Promise<boolean>;
/** Adds to what a key has opened. */
export declare function addOpenings(store: Store, openings: readonly {
    fingerprint: string;
    messages: number;
    media: number;
    lastAtMs: number;
}[]): Promise<void>;
