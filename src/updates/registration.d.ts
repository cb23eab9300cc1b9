/** The bot's own webhook as it rests in the store, and how deliveries to it stand. */
import type { Store } from '../store/store.ts';
import type { Delivered } from './update-batch.ts';
/** A webhook that is set. */
export interface OwnWebhook {
    /** As the bot gave it. */
    url: string;
    secret: string | null;
    /** Failed deliveries in a row, and what the last of them failed for. */
    failures: number;
    lastError: string | null;
    /** When the next delivery is tried, ms since epoch; null when none is waiting for its time. */
    nextAttemptAt: number | null;
}
export declare class Registration {
    #private;
    private constructor();
    /** @throws OperatorError `store-corrupt` when the sealed secret was changed */
    static load(store: Store): Promise<Registration>;
    /** Null when none is set. */
    get webhook(): Readonly<OwnWebhook> | null;
    /** What was delivered last, to this webhook or one before it. */
    get delivered(): Delivered | null;
    /**
     * Sets or replaces the webhook; its failures begin anew.
     * @throws Refusal `postern_locked` when there is a secret and no protection to seal it under,
     *   `postern_store_unwritable`
     */
    set({ url, secret }: {
        url: string;
        secret: string | null;
    }): Promise<void>;
    /** Forgets the webhook, not what was delivered. @throws Refusal `postern_store_unwritable` */
    remove(): Promise<void>;
    /** A delivery failed. What cannot be recorded is known until the next start. */
    recordFailure(lastError: string, nextAttemptAt: number): Promise<void>;
    /**
     * An update was delivered; on disk when this resolves.
     * @throws Refusal `postern_store_unwritable`; it is then known until the next start
     */
    recordDelivered(delivered: Delivered): Promise<void>;
}
