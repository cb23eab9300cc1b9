import type { NotOpened, OpenedText, UnlockedKey } from '../engine.ts';
import type { EncryptedMessage } from '../format/encrypted-message.ts';
/** A session key of an attachment, with the fingerprint of the own key that it was for. */
export interface FoundKey {
    /** Null where the container says it (RFC 9580, 5.1.2). */
    algorithm: string | null;
    data: Uint8Array;
    fingerprint: string;
}
/** Packets that stood in a container, which was whole. */
export interface FoundPackets {
    packets: Uint8Array;
    fingerprint: string;
}
/**
 * Takes what `parseMessage` left and the keys to try. Gives the document as text, or why not.
 * Everything cryptographic that fails is `damaged` with one reason: no oracle in the difference.
 */
export declare function open(encrypted: EncryptedMessage, keys: UnlockedKey[]): Promise<OpenedText | NotOpened>;
/** Session keys that recipient packets of an attachment hold for any of our keys. */
export declare function unwrap(recipientPackets: Uint8Array[], keys: UnlockedKey[]): Promise<FoundKey[]>;
/** Takes a container's whole body. Gives the packets inside; null for everything that fails. */
export declare function openWhole(recipientPackets: Uint8Array[], container: Uint8Array, keys: UnlockedKey[]): Promise<FoundPackets | null>;
/**
 * Unpacks a compressed packet of an attachment.
 * @returns null for data that is broken, `too-large` for what is more than its bound
 */
export declare function unpackWhole(packet: Uint8Array): Promise<Uint8Array | 'too-large' | null>;
