import type { Transaction } from 'kysely';
import type { Schema } from '../store/schema.ts';
import type { Store } from '../store/store.ts';
/**
 * How a person's fingerprint came to stand: `seen` first, `accepted` by the operator, `verified`
 * by the operator against the person's own word, or the person is `blocked`.
 */
export type Standing = 'seen' | 'accepted' | 'verified' | 'blocked';
/** A person's fingerprint as it stands. Times are ms since the epoch. */
export interface Pin {
    userId: number;
    /** Null for somebody who was blocked before any certificate was seen. */
    fingerprint: string | null;
    sinceMs: number;
    standing: Standing;
    /**
     * The certificate that the service lists for them now, which is their claim to it; null when it
     * lists none, or was never seen to list any.
     */
    listed: string | null;
    listedAtMs: number | null;
}
/** A person of whom nothing is known. */
export declare const blankPin: (userId: number) => Pin;
/** Every pin, in memory and in the store. */
export declare class Pins {
    #private;
    static load(store: Store): Promise<Pins>;
    get(userId: number): Pin | undefined;
    get size(): number;
    /** Every pin, by person. */
    get all(): Pin[];
    /** How many people are listed with a certificate now. */
    claimsOn(fingerprint: string): number;
    /** Who is listed with a certificate now, by id. */
    claimantsOf(fingerprint: string): number[];
    /** Takes in what `savePin` has put on disk. */
    took(pin: Pin): void;
}
/** Puts a pin on disk. */
export declare function savePin(db: Transaction<Schema>, pin: Pin): Promise<void>;
