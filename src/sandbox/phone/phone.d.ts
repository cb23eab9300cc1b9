import type { Engine } from '../../pgp/engine.ts';
import type { PhoneConnection } from './connection.ts';
import type { PhoneMemory } from './memory.ts';
import { type ReadMessage } from './read.ts';
import { type FileSealingOptions, type PhoneIdentity } from './seal.ts';
import type { ButtonAnswer, WorldEvent } from '../state.ts';
/** A message that a phone showed to its person. */
export interface InboxEntry extends ReadMessage {
    messageId: number;
    chatId: number;
    fromId: number;
    /** An edit of a message shown before. */
    edited: boolean;
}
export interface KeyChange {
    userId: number;
    /** Null when the key was removed. */
    fingerprint: string | null;
}
export interface ReceivedAnswer extends ButtonAnswer {
    callbackId: string;
}
/** Options of sending a file. */
export interface SendOptions extends Omit<FileSealingOptions, 'signer'> {
    text?: string | undefined;
    replyTo?: number | undefined;
    /** Of timed media. */
    durationMs?: number | undefined;
    /** Another person's phone, whose key signs the file. */
    signedBy?: Phone | undefined;
}
export interface SentFile {
    messageId: number;
    /** The file is at `/media/<mediaId>` of the service. */
    mediaId: string;
}
/**
 * A person's phone. It seals what the person writes, opens and verifies what others write, and
 * remembers what it showed. It asks the service for modes and certificates as a real one would.
 */
export declare class Phone {
    #private;
    readonly userId: number;
    constructor(o: {
        userId: number;
        engine: Engine;
        identity: PhoneIdentity;
        connection: PhoneConnection;
        memory: PhoneMemory;
    });
    /** The messages that it showed, oldest first. */
    get inbox(): readonly InboxEntry[];
    get keyChanges(): readonly KeyChange[];
    get answers(): readonly ReceivedAnswer[];
    /** Its own keys, which a test can replace. */
    get identity(): PhoneIdentity;
    set identity(identity: PhoneIdentity);
    get fingerprint(): string;
    get certificate(): string;
    /**
     * Writes into a chat. In an encrypted chat it seals to all people, and to the bots that the text
     * is for. Gives the message id.
     */
    write(chatId: number, text: string, o?: {
        replyTo?: number | undefined;
    }): Promise<number>;
    /**
     * Sends a file into a chat, with or without text. In an encrypted chat it is sealed; in a group
     * only to the chat's key list, so not to a bot in privacy mode (spec, GET /media/{id}).
     */
    send(chatId: number, file: Uint8Array, o?: SendOptions): Promise<SentFile>;
    /** Seals to these certificates and its own, and signs. Unusable certificates are left out. */
    seal(text: string, certificates: string[]): Promise<string>;
    /** Seals a file in the same way, unless the options say otherwise. */
    sealFile(file: Uint8Array, certificates: string[], { form, to, signedBy }?: Pick<SendOptions, 'form' | 'to' | 'signedBy'>): Promise<Uint8Array>;
    /** Handles an event of the world. Messages are opened one after the other. */
    receive(event: WorldEvent): void;
    /** Waits until every message received so far is in the inbox. */
    settled(): Promise<void>;
    /** The first message in the inbox that matches, now or later. @throws Error after `withinMs` */
    seen(matches: (seen: InboxEntry) => boolean, withinMs?: number): Promise<InboxEntry>;
}
