/** What an operator can say and ask about other people's certificates. */
import { z } from 'zod';
import type { JournalEntry } from '../keys/journal.ts';
/** A person whom we know. Times are ISO 8601 in UTC. */
export interface TrustRow {
    userId: number;
    /** What they are sealed to under; null for somebody blocked before any was seen. */
    fingerprint: string | null;
    since: string | null;
    /** `seen`, `accepted`, `verified` or `blocked` */
    standing: string;
    /** What the service lists now, and since when. */
    listed: string | null;
    listedSince: string | null;
    /** Must sign words: has signed some once, or is verified. */
    signs: boolean;
    /** Has signed a file once, and must go on signing files. */
    signsFiles: boolean;
    /** Who else is listed with the same certificate, by id, while nobody is named as its owner. */
    sharedWith: readonly number[];
}
/** Everybody whom we know, and the policies that count. */
export interface TrustReport {
    policy: string;
    /** Set by command: for the bot (`chatId` null) and for chats. */
    said: {
        chatId: number | null;
        policy: string;
    }[];
    people: TrustRow[];
}
/** Which part of the journal. */
export declare const LogRange: z.ZodObject<{
    afterId: z.ZodInt;
    sinceMs: z.ZodInt;
    limit: z.ZodInt;
}, z.core.$strict>;
/** One change, as it was written down. */
export interface LogRow extends Omit<JournalEntry, 'atMs'> {
    at: string;
}
export declare const TRUST: {
    trustList: import("../rpc/operation.ts").Operation<import("./operation.ts").Parts, z.ZodObject<{}, z.core.$strict>, TrustReport>;
    trustAccept: import("../rpc/operation.ts").Operation<import("./operation.ts").Parts, z.ZodObject<{
        userId: z.ZodInt;
        fingerprint: z.ZodOptional<z.ZodString>;
    }, z.core.$strict>, {
        message: string;
    }>;
    trustVerify: import("../rpc/operation.ts").Operation<import("./operation.ts").Parts, z.ZodObject<{
        userId: z.ZodInt;
        fingerprint: z.ZodString;
    }, z.core.$strict>, {
        message: string;
    }>;
    trustBlock: import("../rpc/operation.ts").Operation<import("./operation.ts").Parts, z.ZodObject<{
        userId: z.ZodInt;
    }, z.core.$strict>, {
        message: string;
    }>;
    trustPolicy: import("../rpc/operation.ts").Operation<import("./operation.ts").Parts, z.ZodObject<{
        chatId: z.ZodNullable<z.ZodInt>;
        policy: z.ZodNullable<z.ZodEnum<{
            accept: "accept";
            "first-use": "first-use";
            pinned: "pinned";
        }>>;
    }, z.core.$strict>, {
        message: string;
    }>;
    trustLog: import("../rpc/operation.ts").Operation<import("./operation.ts").Parts, z.ZodObject<{
        afterId: z.ZodInt;
        sinceMs: z.ZodInt;
        limit: z.ZodInt;
    }, z.core.$strict>, LogRow[]>;
};
