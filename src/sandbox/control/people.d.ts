import { z } from 'zod';
export declare const PEOPLE: {
    addPerson: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        username: z.ZodString;
        firstName: z.ZodOptional<z.ZodString>;
        lastName: z.ZodOptional<z.ZodNullable<z.ZodString>>;
    }, z.core.$strict>, {
        id: number;
        username: string;
    }>;
    publishKey: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        userId: z.ZodInt;
        publicKey: z.ZodString;
        fingerprint: z.ZodString;
    }, z.core.$strict>, {
        published: boolean;
    }>;
    block: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        userId: z.ZodInt;
        botId: z.ZodInt;
    }, z.core.$strict>, {
        blocked: boolean;
    }>;
    unblock: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        userId: z.ZodInt;
        botId: z.ZodInt;
    }, z.core.$strict>, {
        blocked: boolean;
    }>;
    closeAccount: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        userId: z.ZodInt;
    }, z.core.$strict>, {
        gone: boolean;
    }>;
    renamePerson: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        userId: z.ZodInt;
        username: z.ZodString;
    }, z.core.$strict>, {
        id: number;
        username: string;
    }>;
    people: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{}, z.core.$strict>, {
        id: number;
        username: string;
    }[]>;
    commandsFor: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        userId: z.ZodInt;
        chatId: z.ZodInt;
        botId: z.ZodInt;
    }, z.core.$strict>, {
        command: string;
        description: string;
    }[]>;
};
