import type { Store } from '../store/store.ts';
import type { Journal } from './journal.ts';
/** Remembers each chat's key list, to write down how it changes. */
export declare class Lists {
    #private;
    constructor(store: Store, journal: Journal);
    /**
     * A chat's key list was read. The first one of a chat is kept without a word.
     * @throws Refusal `postern_store_unwritable`
     */
    saw(chatId: number, people: readonly {
        userId: number;
        fingerprint: string | null;
    }[]): Promise<void>;
    /**
     * A chat's key list contradicts itself; written down once for each contradiction.
     * @throws Refusal `postern_store_unwritable`
     */
    contradicts(chatId: number, why: string): Promise<void>;
}
