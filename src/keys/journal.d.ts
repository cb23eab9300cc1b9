import { type Transaction } from 'kysely';
import type { Schema } from '../store/schema.ts';
import type { Store } from '../store/store.ts';
/** What can change about whom we seal to and whose words we believe. */
export type TrustChange = 
/** The service lists another certificate for a person than before. */
{
    kind: 'key-changed';
    userId: number;
    detail: {
        from: string;
        to: string;
        standing: string;
    };
}
/** The service lists none for a person any more. */
 | {
    kind: 'key-withdrawn';
    userId: number;
    detail: {
        from: string;
        standing: string;
    };
}
/** Several people are listed with one certificate; at most 100 are named. */
 | {
    kind: 'certificate-shared';
    detail: {
        fingerprint: string;
        people: number[];
        owner: number | null;
    };
}
/** A certificate that we know was revoked by its owner. */
 | {
    kind: 'key-revoked';
    userId: number;
    detail: {
        fingerprint: string;
    };
}
/** Who gets what is written into a chat; at most 100 people are named each way. */
 | {
    kind: 'recipients-changed';
    chatId: number;
    detail: {
        count: number;
        added: number[];
        removed: number[];
        changed: number[];
    };
}
/** The key list of a chat contradicts itself; nothing is sealed by it. */
 | {
    kind: 'list-contradicts';
    chatId: number;
    detail: {
        why: string;
    };
}
/** The operator spoke. */
 | {
    kind: 'accepted' | 'verified';
    userId: number;
    detail: {
        fingerprint: string;
    };
} | {
    kind: 'blocked';
    userId: number;
    detail: Record<string, never>;
} | {
    kind: 'policy';
    chatId: number | null;
    detail: {
        policy: string | null;
    };
};
/** A change as it was written down. `at` is ms since the epoch. */
export interface JournalEntry {
    id: number;
    atMs: number;
    kind: string;
    userId: number | null;
    chatId: number | null;
    detail: Record<string, unknown>;
}
/** The append-only record of changes: nothing in it is ever rewritten; only the oldest go. */
export declare class Journal {
    #private;
    /** @param told hears of every change once it is on disk */
    constructor(store: Store, told: (change: TrustChange) => void);
    /**
     * Writes changes down, together with what they change. Without any, what is written is who or
     * what was seen for the first time: to know it although this rejects does no harm.
     * @param change runs in the same transaction, first
     * @throws Refusal `postern_store_unwritable`; then nothing was changed
     */
    record(changes: readonly TrustChange[], change?: (db: Transaction<Schema>) => Promise<void>): Promise<void>;
    /**
     * Entries in the order in which they were written.
     * @param from `afterId` gives what came later than that entry, `sinceMs` than that time;
     *   `limit` at most so many
     */
    read(from: {
        afterId: number;
        sinceMs: number;
        limit: number;
    }): Promise<JournalEntry[]>;
}
