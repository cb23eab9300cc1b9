/** Packet framing (RFC 9580, 4.2) of bytes as they arrive, by the rules of `packets.ts`. */
import { type ByteReader } from './byte-reader.ts';
import { type PacketLength } from './packets.ts';
/** A packet whose body is being read; all of it, before the next packet is asked for. */
export declare class StreamedPacket {
    #private;
    readonly tag: number;
    constructor(reader: ByteReader, tag: number, first: PacketLength);
    /**
     * The next bytes of the body, without a copy; null at its end.
     * @throws FramingError when it ends too early or its chunks are outside the bounds
     */
    some(max?: number): Promise<Uint8Array | null>;
    /** Fills a place as far as the body goes; gives how many bytes it now holds. */
    into(place: Uint8Array): Promise<number>;
    /** Exactly so many bytes. @throws FramingError when there are fewer, or as `some` does */
    exactly(count: number): Promise<Uint8Array>;
    /** The whole body. @throws FramingError when it is longer than `max`, or as `some` does */
    whole(max: number): Promise<Uint8Array>;
    /** Passes over the rest of the body. */
    skip(): Promise<void>;
}
/** Reads the header of the next packet; null at the end. @throws FramingError for a bad one */
export declare function nextPacket(reader: ByteReader): Promise<StreamedPacket | null>;
