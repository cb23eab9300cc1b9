/** A Message inside an update, with what it says of its place. Nothing in it is proven. */
export interface FoundMessage {
    /** The object inside the parsed update, to be changed in place. */
    message: Record<string, unknown>;
    chatId: number | null;
    chatKind: string | null;
    /**
     * The chat that its update speaks of. Where something around the Message names another chat than
     * the Message does, it is that one: the two then differ.
     */
    updateChatId: number | null;
    /**
     * Where it is in its update: the Message that the update brings, one that another Message or a
     * press carries.
     */
    position: 'top' | 'carried';
    /** Who pressed the button, in a press. */
    pressedById: number | null;
    messageId: number | null;
    fromId: number | null;
    dateMs: number | null;
    isOrdinary: boolean;
}
/**
 * Finds every Message in an update by its shape, quoted and pressed ones too (spec, Open points):
 * any object with a `text` or an `armored`, whatever these are, but for the buttons of a keyboard;
 * and a notice, which has a chat, an id and a date. One that names no chat is in the chat of what
 * it stands in, else in that of its update. Whatever stands under our own name is taken out, and
 * `cleaned` says so. What is beyond the number that is looked at is in `surplus`.
 */
export declare function findMessages(update: unknown): Collected;
/** The Messages of one update. */
export interface Collected {
    messages: FoundMessage[];
    surplus: Record<string, unknown>[];
    /** The chat that the update speaks of; null where its outermost Messages do not agree. */
    updateChatId: number | null;
    cleaned: boolean;
    /**
     * To be called once findings are written. A `replyTo` that is no object is words which a bot may
     * show: until then it is the text of a Message, and it comes back where nothing was found.
     */
    restore: () => void;
}
