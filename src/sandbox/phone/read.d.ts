import type { Engine } from '../../pgp/engine.ts';
import type { PhoneConnection } from './connection.ts';
import type { PhoneIdentity } from './seal.ts';
import type { StoredMessage } from '../state.ts';
/** What a phone found out about a message. */
export type PhoneVerdict = 
/** Sealed to this phone and signed by the sender's published key. */
'verified'
/** Opened, but the signature is not the sender's, or is meant for others. */
 | 'bad'
/** Opened; nobody signed it. */
 | 'unsigned'
/** It came as plain text. */
 | 'readable'
/** Sealed, and this phone cannot open it. */
 | 'unopened';
export interface ReadMessage {
    /** Empty when the message could not be opened, and for service notices. */
    text: string;
    verdict: PhoneVerdict;
    /** Fingerprint of the certificate that verified it, else null. */
    signer: string | null;
}
/** A phone's own key, and its connection, which gives the certificates of others. */
export interface MessageReader {
    engine: Engine;
    identity: PhoneIdentity;
    connection: PhoneConnection;
}
/** Opens and verifies the text of a message. Never throws. */
export declare function readMessage(reader: MessageReader, message: StoredMessage): Promise<ReadMessage>;
