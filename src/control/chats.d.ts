/** Operations on what is known of the bot's chats. */
import { z } from 'zod';
/** What is known of a chat. */
export interface ChatRow {
    id: number;
    kind: string | null;
    /** Whose private chat it is, once that was learned; null or absent for any other. */
    personId?: number | null | undefined;
    /** As the service last said it. */
    mode: string | null;
    latched: boolean;
    /** Readable text for it was refused since it was last lifted. */
    refused: boolean;
}
/** Which chats may take readable text again. */
declare const Lift: z.ZodUnion<readonly [z.ZodObject<{
    chatIds: z.ZodArray<z.ZodInt>;
}, z.core.$strict>, z.ZodObject<{
    pending: z.ZodLiteral<true>;
}, z.core.$strict>, z.ZodObject<{
    private: z.ZodLiteral<true>;
}, z.core.$strict>]>;
export type Lift = z.infer<typeof Lift>;
export declare const CHATS: {
    chatList: import("../rpc/operation.ts").Operation<import("./operation.ts").Parts, z.ZodObject<{}, z.core.$strict>, ChatRow[]>;
    chatAllowReadable: import("../rpc/operation.ts").Operation<import("./operation.ts").Parts, z.ZodUnion<readonly [z.ZodObject<{
        chatIds: z.ZodArray<z.ZodInt>;
    }, z.core.$strict>, z.ZodObject<{
        pending: z.ZodLiteral<true>;
    }, z.core.$strict>, z.ZodObject<{
        private: z.ZodLiteral<true>;
    }, z.core.$strict>]>, {
        lifted: number[];
        message: string;
    }>;
    chatBind: import("../rpc/operation.ts").Operation<import("./operation.ts").Parts, z.ZodObject<{
        chatId: z.ZodInt;
        userId: z.ZodInt;
    }, z.core.$strict>, {
        message: string;
    }>;
};
export {};
