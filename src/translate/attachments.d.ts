import type { Capability } from '../media/capability.ts';
import { type ReadHandle } from '../media/file-cache.ts';
import { type Attachment, type AttachmentParts } from './attachment.ts';
/** Bounds of what is under way and of what is kept. */
export interface AttachmentBounds {
    /** Openings at once. */
    openings: number;
    keptOctets: number;
    keptFiles: number;
    keptMs: number;
}
export declare const ATTACHMENT_BOUNDS: AttachmentBounds;
/** What came of an opening: a verdict, `stored` for what was given as it is, or the error's code. */
export interface AttachmentOutcome {
    outcome: string;
    ms: number;
}
export interface AttachmentsParts extends Pick<AttachmentParts, 'stored' | 'room'> {
    /** What opens; null for a sidecar without a key, which gives everything as it is stored. */
    opens: (AttachmentParts & {
        capability: Capability;
    }) | null;
    told: (outcome: AttachmentOutcome) => void;
    bounds?: AttachmentBounds;
}
export declare class Attachments implements AsyncDisposable {
    #private;
    constructor(parts: AttachmentsParts);
    /** How many are being opened now. */
    get openings(): number;
    /**
     * The attachment that a url of ours gives the right to; null when it gives none.
     * @param query as it stood in the url, without the question mark
     * @throws as `ofPlace` does
     */
    byUrl(mediaId: string, query: string): Promise<ReadHandle<Attachment> | null>;
    /**
     * The attachment that an update named, for whoever holds the bot's token.
     * @throws Refusal `media_not_found`, `postern_busy` and the codes of media; ServiceError and
     *   NoResponseError from the service
     */
    named(mediaId: string): Promise<ReadHandle<Attachment>>;
    /** Ends what is under way, and gives all room back that nobody reads from. */
    [Symbol.asyncDispose](): Promise<void>;
}
