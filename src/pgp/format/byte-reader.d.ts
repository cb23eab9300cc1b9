/**
 * Bytes as they arrive, taken in the portions that whoever reads them needs. What is given without
 * a copy is good until more is asked for: its memory may then be used again.
 */
export declare class ByteReader {
    #private;
    constructor(source: AsyncIterable<Uint8Array>);
    /** How many bytes were taken so far. */
    get position(): number;
    /** The next bytes, at least one and at most `max`, without a copy; null at the end. */
    some(max?: number): Promise<Uint8Array | null>;
    /** Fills a place as far as bytes come; gives how many it now holds. */
    into(place: Uint8Array): Promise<number>;
    /** Exactly so many bytes, in one piece. @throws FramingError when there are fewer */
    exactly(count: number): Promise<Uint8Array>;
    /** The next bytes without taking them; fewer than `count` only where there are no more. */
    peek(count: number): Promise<Uint8Array>;
    /** Reads to the end and forgets it. */
    drain(): Promise<void>;
    /** Ends the source early: what is left of it is not needed. */
    leave(): Promise<void>;
}
/** Fills a place with what a source gives, as far as it does; gives how many bytes it now holds. */
export declare function fill(place: Uint8Array, source: {
    some(max: number): Promise<Uint8Array | null>;
}): Promise<number>;
