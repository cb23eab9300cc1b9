import type { Markup } from '../../api/markup.ts';
import type { ChatState, MediaState, MessageKind, StoredMessage } from '../state.ts';
import type { World } from '../world.ts';
/** A message to be posted. Whether it may be posted is already checked. */
export interface Post {
    chat: ChatState;
    fromId: number;
    kind?: MessageKind;
    text?: string | null | undefined;
    armored?: string | null | undefined;
    /** A message of the same chat; an unknown id is ignored. */
    replyTo?: number | null | undefined;
    markup?: Markup | null;
    media?: MediaState[];
    /** Bots that the message is for, as the sender's phone says: the service cannot read sealed text. */
    addressed?: readonly number[];
}
/** Stores a message, emits it to the phones, and queues it for the bots that receive it. */
export declare function post(world: World, input: Post): StoredMessage;
