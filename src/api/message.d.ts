import { z } from 'zod';
/** Who wrote a message. */
export declare const Sender: z.ZodObject<{
    id: z.ZodInt;
    username: z.ZodOptional<z.ZodNullable<z.ZodString>>;
    firstName: z.ZodOptional<z.ZodString>;
    lastName: z.ZodOptional<z.ZodNullable<z.ZodString>>;
    isBot: z.ZodOptional<z.ZodBoolean>;
}, z.core.$loose>;
export type Sender = z.infer<typeof Sender>;
/**
 * A Message inside an update. `kind` is `user` for ordinary messages; every other value is a
 * service notice. `text` in readable chats, `armored` in protected ones.
 */
export declare const Message: z.ZodObject<{
    id: z.ZodInt;
    chat: z.ZodObject<{
        id: z.ZodInt;
        kind: z.ZodString;
    }, z.core.$loose>;
    from: z.ZodOptional<z.ZodNullable<z.ZodObject<{
        id: z.ZodInt;
        username: z.ZodOptional<z.ZodNullable<z.ZodString>>;
        firstName: z.ZodOptional<z.ZodString>;
        lastName: z.ZodOptional<z.ZodNullable<z.ZodString>>;
        isBot: z.ZodOptional<z.ZodBoolean>;
    }, z.core.$loose>>>;
    date: z.ZodInt;
    replyTo: z.ZodOptional<z.ZodUnknown>;
    kind: z.ZodString;
    text: z.ZodOptional<z.ZodNullable<z.ZodString>>;
    armored: z.ZodOptional<z.ZodNullable<z.ZodString>>;
    media: z.ZodOptional<z.ZodArray<z.ZodObject<{
        id: z.ZodUnion<readonly [z.ZodInt, z.ZodString]>;
        url: z.ZodString;
    }, z.core.$loose>>>;
}, z.core.$loose>;
export type Message = z.infer<typeof Message>;
/** True for what a person wrote, false for a service notice (spec, Message). */
export declare function isOrdinary(message: {
    kind?: unknown;
}): boolean;
