/** The next message of each place, prepared but for its words: in memory alone, and not for long. */
import { type PreparedMessage } from './prepared-message.ts';
import type { PrepareRequest, RecipientPackets } from './recipient-packets.ts';
export interface PrecomputeBounds {
    /** Bytes of all prepared messages together. */
    maxBytes: number;
    /** How long one waits. */
    keepMs: number;
}
/**
 * One prepared message a place at most. It is given out once, to who names exactly what it was
 * made for; whoever names anything else ends it.
 */
export declare class PreparedMessages {
    #private;
    constructor(bounds: PrecomputeBounds);
    /** Bytes that are taken up. */
    get byteLength(): number;
    /** Whether one waits at a place for what is named. */
    has(place: string, name: string): boolean;
    /** Takes the prepared message out. It is the caller's to use, or to destroy. */
    take(place: string, name: string): PreparedMessage | null;
    /** Keeps a prepared message for what is named, in place of the one that was there. */
    put(place: string, name: string, prepared: PreparedMessage): void;
    /** Destroys all. */
    clear(): void;
}
export interface PrecomputerParts {
    packets: RecipientPackets;
    bounds: PrecomputeBounds;
    /** Called when the next message of a place is ready but for its words. */
    onPrepared: (place: string) => void;
}
export declare class Precomputer {
    #private;
    constructor(parts: PrecomputerParts);
    /**
     * Takes what was made for exactly this; what was made at the place for anything else ends.
     * @returns null when there is none
     */
    take(place: string, request: PrepareRequest): PreparedMessage | null;
    /** Has the next one for a place made, when nobody waits for anything. */
    request(place: string, request: PrepareRequest): void;
    /** Destroys all that was made, and makes nothing that was requested. */
    clear(): void;
    /** The same, for good. */
    close(): void;
}
