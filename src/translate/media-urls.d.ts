import type { NamedMedia } from '../chats/named-media.ts';
import type { Capability } from '../media/capability.ts';
export interface MediaUrlsParts {
    capability: Capability;
    named: NamedMedia;
    /** Base url of the service, which may stand before a path. */
    upstreamUrl: string;
}
export declare class MediaUrls {
    #private;
    constructor(parts: MediaUrlsParts);
    /**
     * Writes the urls of every media item of updates anew, quoted and pressed Messages' too, and
     * remembers what they name. An update speaks of one chat: what it claims to be of another one
     * gains no right. A store that cannot be written costs the memory alone.
     * @param updates each with the chat that it speaks of
     * @returns whether anything was changed
     */
    rewrite(updates: readonly {
        update: unknown;
        chatId: number | null;
    }[]): Promise<boolean>;
}
