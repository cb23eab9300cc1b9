import type { Store } from '../store/store.ts';
/** An attachment where it was found: its id, the chat, and who sent it. */
export interface MediaPlace {
    mediaId: string;
    chatId: number;
    /** Null where nobody is named. */
    userId: number | null;
}
/**
 * The attachments that updates named: what a bot with its token alone may fetch, and what data was
 * opened under each id.
 */
export declare class NamedMedia {
    #private;
    /** @param key of this memory alone; @param kept how many are remembered */
    constructor(store: Store, key: Buffer, kept?: number);
    /**
     * Remembers what an answer names; on disk when it resolves.
     * @throws Refusal `postern_store_unwritable`
     */
    name(places: readonly MediaPlace[]): Promise<void>;
    /** Where an id was named first; null when no update named it. */
    placeOf(mediaId: string): Promise<MediaPlace | null>;
    /**
     * What was opened under this id before, as far as is remembered: this data in this place, other
     * data or this in another place, or nothing.
     */
    openedBefore(place: MediaPlace, dataDigest: string): Promise<'same' | 'other' | 'none'>;
    /** Remembers what was opened. @throws Refusal `postern_store_unwritable` */
    opened({ mediaId, chatId, userId }: MediaPlace, dataDigest: string): Promise<void>;
}
