import { z } from 'zod';
/** Messages, buttons, and phones. */
export declare const MESSAGES: {
    write: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        userId: z.ZodInt;
        chatId: z.ZodInt;
        text: z.ZodString;
        replyTo: z.ZodOptional<z.ZodInt>;
    }, z.core.$strict>, {
        messageId: number;
    }>;
    post: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        userId: z.ZodInt;
        chatId: z.ZodInt;
        text: z.ZodOptional<z.ZodString>;
        armored: z.ZodOptional<z.ZodString>;
        replyTo: z.ZodOptional<z.ZodInt>;
        addressed: z.ZodOptional<z.ZodArray<z.ZodInt>>;
        mediaIds: z.ZodOptional<z.ZodArray<z.ZodString>>;
    }, z.core.$strict>, {
        messageId: number;
    }>;
    press: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        userId: z.ZodInt;
        chatId: z.ZodInt;
        messageId: z.ZodInt;
        data: z.ZodOptional<z.ZodString>;
    }, z.core.$strict>, {
        callbackId: string;
    }>;
    messages: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        chatId: z.ZodInt;
        after: z.ZodOptional<z.ZodInt>;
    }, z.core.$strict>, {
        id: number;
        fromId: number;
        date: number;
        kind: import("../state.ts").MessageKind;
        text: string | null;
        armored: string | null;
        replyTo: number | null;
        markup: import("../../api/markup.ts").Markup | null;
        media: import("../state.ts").MediaState[];
        editedAt: number | null;
    }[]>;
    inbox: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        userId: z.ZodInt;
    }, z.core.$strict>, {
        inbox: readonly import("../phone/phone.ts").InboxEntry[];
        keyChanges: readonly import("../phone/phone.ts").KeyChange[];
        answers: readonly import("../phone/phone.ts").ReceivedAnswer[];
    }>;
    givePhone: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        userId: z.ZodInt;
        kind: z.ZodOptional<z.ZodEnum<{
            curve25519: "curve25519";
            expired: "expired";
            p256: "p256";
            revoked: "revoked";
            rsa3072: "rsa3072";
            "sign-only": "sign-only";
            v6: "v6";
            x25519: "x25519";
        }>>;
    }, z.core.$strict>, {
        fingerprint: string;
    }>;
    newKey: import("../../rpc/operation.ts").Operation<import("./operation.ts").ControlContext, z.ZodObject<{
        userId: z.ZodInt;
        kind: z.ZodOptional<z.ZodEnum<{
            curve25519: "curve25519";
            expired: "expired";
            p256: "p256";
            revoked: "revoked";
            rsa3072: "rsa3072";
            "sign-only": "sign-only";
            v6: "v6";
            x25519: "x25519";
        }>>;
    }, z.core.$strict>, {
        fingerprint: string;
    }>;
};
