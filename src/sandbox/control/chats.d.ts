import { z } from 'zod';
import { type ControlContext } from './operation.ts';
/** Chats and their members. */
export declare const CHATS: {
    addPrivateChat: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        userId: z.ZodInt;
        botId: z.ZodInt;
    }, z.core.$strict>, {
        id: number;
        kind: "channel" | "group" | "private";
        mode: "open" | "protected";
    }>;
    addRoom: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        title: z.ZodOptional<z.ZodString>;
        description: z.ZodOptional<z.ZodNullable<z.ZodString>>;
        historyVisible: z.ZodOptional<z.ZodBoolean>;
        slowModeSeconds: z.ZodOptional<z.ZodInt>;
        rosterHidden: z.ZodOptional<z.ZodBoolean>;
        adminsHidden: z.ZodOptional<z.ZodBoolean>;
        kind: z.ZodEnum<{
            channel: "channel";
            group: "group";
        }>;
        members: z.ZodArray<z.ZodInt>;
        username: z.ZodOptional<z.ZodString>;
    }, z.core.$strict>, {
        id: number;
        kind: "channel" | "group" | "private";
        mode: "open" | "protected";
    }>;
    changeChat: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        title: z.ZodOptional<z.ZodString>;
        description: z.ZodOptional<z.ZodNullable<z.ZodString>>;
        historyVisible: z.ZodOptional<z.ZodBoolean>;
        slowModeSeconds: z.ZodOptional<z.ZodInt>;
        rosterHidden: z.ZodOptional<z.ZodBoolean>;
        adminsHidden: z.ZodOptional<z.ZodBoolean>;
        chatId: z.ZodInt;
    }, z.core.$strict>, {
        id: number;
        kind: "channel" | "group" | "private";
        mode: "open" | "protected";
    }>;
    join: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        status: z.ZodOptional<z.ZodEnum<{
            admin: "admin";
            left: "left";
            member: "member";
            owner: "owner";
            restricted: "restricted";
        }>>;
        rights: z.ZodOptional<z.ZodInt>;
        chatId: z.ZodInt;
        userId: z.ZodInt;
    }, z.core.$strict>, Record<string, unknown>>;
    leave: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        chatId: z.ZodInt;
        userId: z.ZodInt;
    }, z.core.$strict>, {
        left: boolean;
    }>;
    setMembership: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        status: z.ZodOptional<z.ZodEnum<{
            admin: "admin";
            left: "left";
            member: "member";
            owner: "owner";
            restricted: "restricted";
        }>>;
        rights: z.ZodOptional<z.ZodInt>;
        chatId: z.ZodInt;
        userId: z.ZodInt;
        restrictedUntil: z.ZodOptional<z.ZodNullable<z.ZodInt>>;
        title: z.ZodOptional<z.ZodNullable<z.ZodString>>;
    }, z.core.$strict>, Record<string, unknown>>;
    /** Its former name. */
    setSeat: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        status: z.ZodOptional<z.ZodEnum<{
            admin: "admin";
            left: "left";
            member: "member";
            owner: "owner";
            restricted: "restricted";
        }>>;
        rights: z.ZodOptional<z.ZodInt>;
        chatId: z.ZodInt;
        userId: z.ZodInt;
        restrictedUntil: z.ZodOptional<z.ZodNullable<z.ZodInt>>;
        title: z.ZodOptional<z.ZodNullable<z.ZodString>>;
    }, z.core.$strict>, Record<string, unknown>>;
    chats: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{}, z.core.$strict>, {
        id: number;
        kind: "channel" | "group" | "private";
        mode: "open" | "protected";
    }[]>;
};
