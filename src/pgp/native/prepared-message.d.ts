import type { SigningKey } from '../crypto/algorithm.ts';
import type { SessionKey } from '../crypto/session-key.ts';
import { Crc24 } from '../format/crc24.ts';
import { type ArmoredPackets } from '../format/json-armor.ts';
import { Sealed } from '../sealed.ts';
import type { OwnSecret } from './own-keys.ts';
/** It seals one message and no other. */
export interface PreparedMessage {
    sessionKey: SessionKey;
    /** Armor of the recipient packets as far as it fills whole lines, escaped for JSON. */
    lines: Buffer;
    /** Their bytes after that, fewer than a line holds. */
    rest: Buffer;
    /** Checksum of all recipient packets. */
    crc: Crc24;
    bytes: number;
}
/** Prepares a message of recipient packets, which all give this session key. */
export declare function prepareMessage(armored: ArmoredPackets, sessionKey: SessionKey): PreparedMessage;
/** Bytes that it takes in memory. */
export declare function preparedBytes({ lines, rest, sessionKey }: PreparedMessage): number;
/** Zeroes what must not be found in memory. */
export declare function destroyPrepared({ sessionKey }: PreparedMessage): void;
/** Signs and encrypts a text into a prepared message, which is of no use afterwards. */
export declare function sealPrepared(prepared: PreparedMessage, { text, signer, atMs }: {
    text: string;
    signer: OwnSecret<SigningKey>;
    atMs: number;
}): Sealed;
