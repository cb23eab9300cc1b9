import type { StreamedPacket } from './packet-stream.ts';
/**
 * Unpacks the rest of a compressed packet's body. Bytes after the end of the compressed stream
 * are padding of the sender's; they are left in the packet or dropped. When whoever reads stops,
 * nothing reads the packet any more either.
 * @param algorithm none, zip or zlib
 * @throws Error of zlib for data that is broken or cut; FramingError as the packet does
 */
export declare function inflated(packet: StreamedPacket, algorithm: number): AsyncGenerator<Uint8Array>;
