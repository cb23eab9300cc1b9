import type { MediaPlace } from '../chats/named-media.ts';
/** Makes and reads such urls; a place once given is good for ever, under the same key. */
export declare class Capability {
    #private;
    constructor(key: Buffer);
    /** The path of an attachment at our own door, with the right to fetch it in its query. */
    pathOf(place: MediaPlace): string;
    /**
     * Reads the query of a request for an attachment.
     * @returns the place that it was made for; null for anything else
     */
    read(mediaId: string, query: string): MediaPlace | null;
}
