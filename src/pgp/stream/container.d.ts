import type { SymmetricKey } from '../crypto/ciphers.ts';
import type { DocumentSink } from '../format/decrypted-stream.ts';
import type { StreamedPacket } from '../format/packet-stream.ts';
import type { RawFile, Room } from './raw-file.ts';
import { RestingFile } from './resting.ts';
/** Reads one container with one session key. */
export declare class Container {
    #private;
    readonly key: SymmetricKey;
    /** @param packet its version byte is read already */
    constructor(packet: StreamedPacket, o: {
        raw: RawFile;
        key: SymmetricKey;
    });
    /** How far a position of the packets inside is from the same in the file at rest. */
    get restingOffset(): number;
    get blockBytes(): number;
    /** Nothing of it need be kept: from now on it only goes by. */
    forget(): void;
    /** The packets inside, not proven yet. @throws FramingError when the container is cut off */
    packets(): AsyncGenerator<Uint8Array>;
    /** Whether all of it went by and nothing was changed. */
    get isIntact(): boolean;
    /**
     * The identity of the encrypted data, once it is intact. What is too long to be a message is
     * known by its session key and its hash, from which the one ciphertext follows.
     */
    get digest(): string;
}
/** Where a document comes to rest: in its container as it arrived, or written anew. */
export declare class RestingSink implements DocumentSink {
    #private;
    /** @param arrived the container that goes to rest, with its file; null when none does */
    constructor(room: Room, arrived: {
        container: Container;
        raw: RawFile;
    } | null);
    take(piece: Uint8Array, position: number | null): Promise<void>;
    /** The document, once it is proven. */
    file(): Promise<RestingFile>;
    /** Gives all room back. */
    discard(): Promise<void>;
}
