import { z } from 'zod';
/**
 * Body of `POST /messages` by type and name alone. Which of `text` and `armored` is right, what a
 * text may hold and what a keyboard may be depend on the chat and are judged where it is known.
 */
export declare const SendBody: z.ZodObject<{
    chatId: z.ZodInt;
    text: z.ZodOptional<z.ZodString>;
    armored: z.ZodOptional<z.ZodString>;
    replyTo: z.ZodOptional<z.ZodNullable<z.ZodInt>>;
    markup: z.ZodOptional<z.ZodUnknown>;
    silent: z.ZodOptional<z.ZodBoolean>;
    sendId: z.ZodOptional<z.ZodGUID>;
}, z.core.$strict>;
export type SendBody = z.infer<typeof SendBody>;
/** Body of `PATCH /messages/{messageId}`; absent `markup` keeps the buttons, null removes them. */
export declare const EditBody: z.ZodObject<{
    chatId: z.ZodInt;
    text: z.ZodOptional<z.ZodString>;
    armored: z.ZodOptional<z.ZodString>;
    markup: z.ZodOptional<z.ZodUnknown>;
}, z.core.$strict>;
export type EditBody = z.infer<typeof EditBody>;
/** Names that the spec lists for a send and for an edit; no others enter a protected chat. */
export declare const SEND_FIELDS: ReadonlySet<string>;
export declare const EDIT_FIELDS: ReadonlySet<string>;
/** The same bodies with room for fields that a later version of the service may know. */
export declare const OpenSendBody: z.ZodObject<{
    chatId: z.ZodInt;
    text: z.ZodOptional<z.ZodString>;
    armored: z.ZodOptional<z.ZodString>;
    replyTo: z.ZodOptional<z.ZodNullable<z.ZodInt>>;
    markup: z.ZodOptional<z.ZodUnknown>;
    silent: z.ZodOptional<z.ZodBoolean>;
    sendId: z.ZodOptional<z.ZodGUID>;
}, z.core.$loose>;
export declare const OpenEditBody: z.ZodObject<{
    chatId: z.ZodInt;
    text: z.ZodOptional<z.ZodString>;
    armored: z.ZodOptional<z.ZodString>;
    markup: z.ZodOptional<z.ZodUnknown>;
}, z.core.$loose>;
/** Body of `DELETE /messages/{messageId}`, which may also be absent. */
export declare const DeleteBody: z.ZodObject<{
    chatId: z.ZodInt;
}, z.core.$strict>;
/** Body of `POST /chats/{chatId}/typing`, which may also be absent. */
export declare const TypingBody: z.ZodObject<{
    typing: z.ZodOptional<z.ZodBoolean>;
}, z.core.$strict>;
