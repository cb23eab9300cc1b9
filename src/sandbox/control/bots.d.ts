import { z } from 'zod';
/** What a bot's owner does, and what only the service knows of a bot. */
export declare const BOTS: {
    addBot: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        name: z.ZodOptional<z.ZodString>;
        about: z.ZodOptional<z.ZodNullable<z.ZodString>>;
        description: z.ZodOptional<z.ZodNullable<z.ZodString>>;
        privacyMode: z.ZodOptional<z.ZodBoolean>;
        allowGroups: z.ZodOptional<z.ZodBoolean>;
        username: z.ZodString;
    }, z.core.$strict>, {
        id: number;
        username: string;
        token: string;
    }>;
    changeBot: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        name: z.ZodOptional<z.ZodString>;
        about: z.ZodOptional<z.ZodNullable<z.ZodString>>;
        description: z.ZodOptional<z.ZodNullable<z.ZodString>>;
        privacyMode: z.ZodOptional<z.ZodBoolean>;
        allowGroups: z.ZodOptional<z.ZodBoolean>;
        botId: z.ZodInt;
    }, z.core.$strict>, Record<string, unknown>>;
    pause: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        botId: z.ZodInt;
    }, z.core.$strict>, {
        status: string;
    }>;
    resume: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        botId: z.ZodInt;
    }, z.core.$strict>, {
        status: string;
    }>;
    removeKey: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        botId: z.ZodInt;
    }, z.core.$strict>, {
        mode: string;
    }>;
    setBotKey: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        botId: z.ZodInt;
        publicKey: z.ZodString;
        fingerprint: z.ZodString;
    }, z.core.$strict>, {
        mode: string;
    }>;
    issueToken: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        botId: z.ZodInt;
    }, z.core.$strict>, {
        token: string;
    }>;
    revokeToken: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        botId: z.ZodInt;
    }, z.core.$strict>, {
        revoked: boolean;
    }>;
    setCommands: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        botId: z.ZodInt;
        scope: z.ZodString;
        commands: z.ZodArray<z.ZodUnknown>;
    }, z.core.$strict>, {
        scope: string;
        commands: {
            command: string;
            description: string;
        }[];
    }>;
    bot: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        botId: z.ZodInt;
    }, z.core.$strict>, {
        me: Record<string, unknown>;
        webhook: Record<string, unknown>;
        key: import("../state.ts").PublishedKey | null;
        ownerNotices: import("../state.ts").OwnerNotice[];
    }>;
    queued: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        botId: z.ZodInt;
    }, z.core.$strict>, {
        [x: string]: unknown;
        updateId: number;
        kind: string;
    }[]>;
    injectUpdate: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        botId: z.ZodInt;
        update: z.ZodObject<{}, z.core.$loose>;
    }, z.core.$strict>, {
        updateId: number;
    }>;
};
