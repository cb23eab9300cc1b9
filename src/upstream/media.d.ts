import type { Dispatcher } from 'undici';
import type { UpstreamLimits } from './limits.ts';
export interface MediaRequest {
    origin: string;
    /** From the host on, encoded. */
    path: string;
    /** Ends it when nobody waits for it any more. */
    signal: AbortSignal;
    limits: UpstreamLimits;
}
/**
 * Asks for a file, once more when the connection failed before any answer. Gives its octets as
 * they arrive; whoever stops reading them ends the call.
 * @throws ServiceError, NoResponseError, Refusal `postern_media_too_large`; the octets throw the last two
 */
export declare function fetchMedia(pool: Dispatcher, request: MediaRequest): Promise<AsyncIterable<Uint8Array>>;
