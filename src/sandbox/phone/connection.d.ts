import type { ChatMode } from '../../api/chat.ts';
import type { MediaState, PublishedKey } from '../state.ts';
import type { World } from '../world.ts';
/** What the sender's phone must know before it writes. */
export interface SendPlan {
    mode: ChatMode;
    /** Recipients of the text, without the sender. */
    certificates: string[];
    /** Recipients of a file, without the sender. */
    fileCertificates: string[];
    /** Bots that the text is addressed to. */
    addressed: number[];
}
interface OutgoingMessage {
    chatId: number;
    replyTo?: number | undefined;
    addressed: number[];
    text?: string;
    armored?: string;
    media?: MediaState[];
}
/** A phone's connection to the service. Nothing else passes between the two but world events. */
export declare class PhoneConnection {
    #private;
    constructor(world: World, userId: number);
    /** Whether another account is in a chat of this person; the phone then records its key changes. */
    hasCommonChatWith(userId: number): boolean;
    /** The key that a person or bot published, or null. */
    publishedKeyOf(userId: number): PublishedKey | null;
    /**
     * Plans a message. In a private chat everything is addressed to the bot; in a group commands,
     * mentions and replies are. A bot with privacy mode off reads everything.
     */
    plan(o: {
        chatId: number;
        text: string;
        replyTo: number | undefined;
    }): SendPlan;
    /** Uploads a file. The transcript records only its length. Gives its media id. */
    upload(file: Uint8Array): string;
    /** Posts a message, which the transcript records as sent. Gives its id. */
    post(message: OutgoingMessage): number;
}
export {};
