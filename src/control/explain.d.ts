/** Operations that say what became of a message; never its words. Times are ISO 8601 in UTC. */
import { z } from 'zod';
export type Explained = Awaited<ReturnType<typeof EXPLAIN.explainUpdate.run>>[number];
export type ExplainedSent = NonNullable<Awaited<ReturnType<typeof EXPLAIN.explainSent.run>>>;
export declare const EXPLAIN: {
    explainUpdate: import("../rpc/operation.ts").Operation<import("./operation.ts").Parts, z.ZodObject<{
        updateId: z.ZodInt;
    }, z.core.$strict>, {
        at: string;
        chatId: number | null;
        messageId: number | null;
        userId: number | null;
        verdict: string;
        reason: string | null;
        /** Its text was given to the bot. */
        delivered: boolean;
        /** Our key that opened it, and that key's state. */
        openedWith: {
            fingerprint: string;
            state: string;
        } | null;
        signer: string | null;
    }[]>;
    explainSent: import("../rpc/operation.ts").Operation<import("./operation.ts").Parts, z.ZodObject<{
        messageId: z.ZodInt;
    }, z.core.$strict>, {
        at: string;
        chatId: number;
        recipients: number;
        skipped: {
            userId: number;
            reason: string;
        }[];
    } | null>;
};
