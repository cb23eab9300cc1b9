/** One attempt to publish a key: mark, publish, confirm by `/me`, promote (DESIGN: Keys). */
import type { Bot } from '../api/bot.ts';
import type { Keyring } from './keyring.ts';
import type { ReadyKey } from './own-key.ts';
/** The calls that publication makes; all throw ServiceError and NoResponseError. */
export interface PublicationCalls {
    me(): Promise<Bot>;
    putKey(key: {
        publicKey: string;
        fingerprint: string;
    }): Promise<void>;
}
export type OfferPhase = 'publishing' | 'confirming';
export interface OfferParts {
    keyring: Keyring;
    calls: PublicationCalls;
    /** Ends the attempt; what the service was told by then stays marked. */
    signal: AbortSignal;
    phase: (phase: OfferPhase) => void;
}
/**
 * What came of it. `confirmed`: shown, and ours is promoted. `refused`: the service said no, and
 * knows nothing of the key by this attempt. `unanswered`: it may or may not have been taken.
 * `unconfirmed`: it was taken and is not shown.
 */
export type Offered = {
    kind: 'confirmed';
} | {
    kind: 'refused' | 'unanswered';
    error: unknown;
    shown: Shown;
} | {
    kind: 'unconfirmed';
    shown: Shown;
};
/** What `/me` showed last, lower case or null; undefined when it could not be asked. */
export type Shown = string | null | undefined;
/**
 * Offers a key to the service, the same one however often.
 * @param before what `/me` showed before the attempt
 * @throws Refusal `postern_store_unwritable`: before the publication when it cannot be marked, and
 *   after it when the promotion cannot be recorded; the signal's reason
 */
export declare function offer(key: ReadyKey, before: string | null, parts: OfferParts): Promise<Offered>;
