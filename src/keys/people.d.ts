import type { Transaction } from 'kysely';
import type { Schema } from '../store/schema.ts';
import type { Store } from '../store/store.ts';
/** A certificate and a person whose it is said to be. */
export interface Pair {
    fingerprint: string;
    userId: number;
}
/** What a person may have signed: phones may sign the one and not the other. */
export type SignedKind = 'words' | 'file';
/**
 * What is remembered of people for good: whose a certificate is by the operator's word, and who has
 * ever signed. Nothing but the operator's word changes the one or loosens the other.
 */
export declare class People {
    #private;
    private constructor();
    static load(store: Store): Promise<People>;
    /** Whose certificate it is, as the operator said; undefined while nothing was said. */
    ownerOf(fingerprint: string): number | undefined;
    /** Whether the operator has named somebody else as the owner of a certificate. */
    isOthers({ fingerprint, userId }: Pair): boolean;
    /** Puts on disk that a certificate is a person's alone. `owns` follows when the write is done. */
    saveOwner(db: Transaction<Schema>, { userId, fingerprint }: Pair): Promise<void>;
    /** Takes in what `saveOwner` has put on disk. */
    owns({ userId, fingerprint }: Pair): void;
    /** Whether the person has ever signed such a thing; from then on, one without is not theirs. */
    hasSigned(userId: number, kind: SignedKind): boolean;
    /** @throws Refusal `postern_store_unwritable` */
    rememberSigned(userIds: number[], kind: SignedKind): Promise<void>;
    /**
     * Puts on disk that a person begins anew: that they once signed words or files is forgotten.
     * `startedAnew` follows when the write is done.
     */
    saveAnew(db: Transaction<Schema>, userId: number): Promise<void>;
    /** Takes in what `saveAnew` has put on disk. */
    startedAnew(userId: number): void;
}
