import { z } from 'zod';
/** What an input field with an id refers to. In a seed file the field has a name instead. */
export type ReferenceKind = 'person' | 'bot' | 'account' | 'chat' | 'message' | 'scope';
/** The schemas of fields that refer to something. */
export declare const REFERENCES: z.core.$ZodRegistry<{
    kind: ReferenceKind;
}, z.core.$ZodType<unknown, unknown, z.core.$ZodTypeInternals<unknown, unknown>>>;
export declare const personId: z.ZodInt;
export declare const botId: z.ZodInt;
/** A person's or a bot's. */
export declare const accountId: z.ZodInt;
export declare const chatId: z.ZodInt;
export declare const messageId: z.ZodInt;
/** A scope of commands, such as `chat:<chat_id>`. */
export declare const scope: z.ZodString;
export declare const text: z.ZodString;
export declare const textOrNull: z.ZodNullable<z.ZodString>;
export declare const flag: z.ZodBoolean;
export declare const count: z.ZodInt;
