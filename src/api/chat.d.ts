import { z } from 'zod';
/** Chat kinds of the spec. Answers may hold others, which are kept as strings. */
export declare const CHAT_KINDS: readonly ['private', 'group', 'channel'];
export type ChatKind = (typeof CHAT_KINDS)[number];
/** `open`: send `text`; `protected`: send `armored` (spec, Chat). */
export declare const ChatMode: z.ZodEnum<{
    open: "open";
    protected: "protected";
}>;
export type ChatMode = z.infer<typeof ChatMode>;
/** The bot's seat in a chat. The meaning of the bits of `rights` is not shown by the spec. */
export declare const Seat: z.ZodObject<{
    status: z.ZodString;
    rights: z.ZodInt;
    restrictedUntil: z.ZodNullable<z.ZodInt>;
}, z.core.$loose>;
export type Seat = z.infer<typeof Seat>;
/**
 * Result of `GET /chats/{chatId}`. Only what the sidecar decides on is demanded; the rest is
 * optional here because the spec shows it for groups and channels only, or not at all.
 */
export declare const Chat: z.ZodObject<{
    id: z.ZodInt;
    kind: z.ZodString;
    mode: z.ZodEnum<{
        open: "open";
        protected: "protected";
    }>;
    title: z.ZodCatch<z.ZodOptional<z.ZodNullable<z.ZodString>>>;
    username: z.ZodCatch<z.ZodOptional<z.ZodNullable<z.ZodString>>>;
    description: z.ZodCatch<z.ZodOptional<z.ZodNullable<z.ZodString>>>;
    memberCount: z.ZodCatch<z.ZodOptional<z.ZodNullable<z.ZodInt>>>;
    historyVisible: z.ZodCatch<z.ZodOptional<z.ZodNullable<z.ZodBoolean>>>;
    slowModeSeconds: z.ZodCatch<z.ZodOptional<z.ZodNullable<z.ZodInt>>>;
    me: z.ZodCatch<z.ZodOptional<z.ZodNullable<z.ZodObject<{
        status: z.ZodString;
        rights: z.ZodInt;
        restrictedUntil: z.ZodNullable<z.ZodInt>;
    }, z.core.$loose>>>>;
}, z.core.$loose>;
export type Chat = z.infer<typeof Chat>;
/** The chat inside a Message. */
export declare const ChatReference: z.ZodObject<{
    id: z.ZodInt;
    kind: z.ZodString;
}, z.core.$loose>;
export type ChatReference = z.infer<typeof ChatReference>;
/** Whether what is written in the chat must be sealed. */
export declare function isProtected(chat: {
    mode: ChatMode;
}): boolean;
