import type { z } from 'zod';
import { type AnyOperation, type Calls } from '../../rpc/operation.ts';
import type { ControlContext } from './operation.ts';
/** Every control operation, by name. */
export declare const OPERATIONS: {
    advance: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        ms: z.ZodInt;
    }, z.core.$strict>, {
        now: number;
    }>;
    now: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{}, z.core.$strict>, {
        now: number;
    }>;
    schedule: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{}, z.core.$strict>, {
        left: number;
        errors: import("../seed/schedule.ts").StepError[];
    }>;
    story: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{}, z.core.$strict>, {
        left: number;
        mishaps: import("../seed/former-names.ts").Mishap[];
    }>;
    fault: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        name: z.ZodEnum<{
            answer: "answer";
            "claim-fingerprint": "claim-fingerprint";
            "claim-kind": "claim-kind";
            "claim-mode": "claim-mode";
            "claim-unprotected": "claim-unprotected";
            cut: "cut";
            delay: "delay";
            error: "error";
            ghost: "ghost";
            "giant-body": "giant-body";
            "half-answer": "half-answer";
            hang: "hang";
            "hide-key": "hide-key";
            html: "html";
            "invalid-json": "invalid-json";
            "keep-confirmed": "keep-confirmed";
            "late-key": "late-key";
            "lost-answer": "lost-answer";
            redirect: "redirect";
            "slow-body": "slow-body";
            "swap-key": "swap-key";
        }>;
        route: z.ZodOptional<z.ZodString>;
        botId: z.ZodOptional<z.ZodInt>;
        times: z.ZodOptional<z.ZodInt>;
        after: z.ZodOptional<z.ZodInt>;
        oneIn: z.ZodOptional<z.ZodInt>;
        seed: z.ZodOptional<z.ZodInt>;
        delayMs: z.ZodOptional<z.ZodInt>;
        bytes: z.ZodOptional<z.ZodInt>;
        status: z.ZodOptional<z.ZodInt>;
        code: z.ZodOptional<z.ZodString>;
        retryAfter: z.ZodOptional<z.ZodInt>;
        retryAfterHeader: z.ZodOptional<z.ZodString>;
        expected: z.ZodOptional<z.ZodEnum<{
            armored: "armored";
            text: "text";
        }>>;
        headers: z.ZodOptional<z.ZodRecord<z.ZodString, z.ZodString>>;
        body: z.ZodOptional<z.ZodString>;
        location: z.ZodOptional<z.ZodString>;
        chatId: z.ZodOptional<z.ZodInt>;
        mode: z.ZodOptional<z.ZodEnum<{
            open: "open";
            protected: "protected";
        }>>;
        historyVisible: z.ZodOptional<z.ZodBoolean>;
        kind: z.ZodOptional<z.ZodString>;
        userId: z.ZodOptional<z.ZodInt>;
        publicKey: z.ZodOptional<z.ZodString>;
        fingerprint: z.ZodOptional<z.ZodString>;
    }, z.core.$strict>, {
        id: number;
    }>;
    clearFaults: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        id: z.ZodOptional<z.ZodInt>;
    }, z.core.$strict>, {
        cleared: boolean;
    }>;
    transcript: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        after: z.ZodOptional<z.ZodInt>;
    }, z.core.$strict>, import("../transcript.ts").TranscriptCall[]>;
    search: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        words: z.ZodString;
    }, z.core.$strict>, import("../transcript.ts").TranscriptCall[]>;
    clearTranscript: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{}, z.core.$strict>, {
        cleared: boolean;
    }>;
    addBot: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
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
    changeBot: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        name: z.ZodOptional<z.ZodString>;
        about: z.ZodOptional<z.ZodNullable<z.ZodString>>;
        description: z.ZodOptional<z.ZodNullable<z.ZodString>>;
        privacyMode: z.ZodOptional<z.ZodBoolean>;
        allowGroups: z.ZodOptional<z.ZodBoolean>;
        botId: z.ZodInt;
    }, z.core.$strict>, Record<string, unknown>>;
    pause: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        botId: z.ZodInt;
    }, z.core.$strict>, {
        status: string;
    }>;
    resume: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        botId: z.ZodInt;
    }, z.core.$strict>, {
        status: string;
    }>;
    removeKey: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        botId: z.ZodInt;
    }, z.core.$strict>, {
        mode: string;
    }>;
    setBotKey: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        botId: z.ZodInt;
        publicKey: z.ZodString;
        fingerprint: z.ZodString;
    }, z.core.$strict>, {
        mode: string;
    }>;
    issueToken: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        botId: z.ZodInt;
    }, z.core.$strict>, {
        token: string;
    }>;
    revokeToken: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        botId: z.ZodInt;
    }, z.core.$strict>, {
        revoked: boolean;
    }>;
    setCommands: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
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
    bot: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        botId: z.ZodInt;
    }, z.core.$strict>, {
        me: Record<string, unknown>;
        webhook: Record<string, unknown>;
        key: import("../state.ts").PublishedKey | null;
        ownerNotices: import("../state.ts").OwnerNotice[];
    }>;
    queued: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        botId: z.ZodInt;
    }, z.core.$strict>, {
        [x: string]: unknown;
        updateId: number;
        kind: string;
    }[]>;
    injectUpdate: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        botId: z.ZodInt;
        update: z.ZodObject<{}, z.core.$loose>;
    }, z.core.$strict>, {
        updateId: number;
    }>;
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
    sendMedia: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        userId: z.ZodInt;
        chatId: z.ZodInt;
        base64: z.ZodString;
        text: z.ZodOptional<z.ZodString>;
        replyTo: z.ZodOptional<z.ZodInt>;
        durationMs: z.ZodOptional<z.ZodInt>;
        compression: z.ZodOptional<z.ZodEnum<{
            none: "none";
            zip: "zip";
            zlib: "zlib";
        }>>;
        recipients: z.ZodOptional<z.ZodEnum<{
            anonymous: "anonymous";
            named: "named";
        }>>;
        signature: z.ZodOptional<z.ZodEnum<{
            damaged: "damaged";
            none: "none";
            signed: "signed";
        }>>;
        framing: z.ZodOptional<z.ZodEnum<{
            partial: "partial";
            whole: "whole";
        }>>;
        cipher: z.ZodOptional<z.ZodEnum<{
            aes128: "aes128";
            aes256: "aes256";
        }>>;
        encoding: z.ZodOptional<z.ZodEnum<{
            armored: "armored";
            binary: "binary";
        }>>;
        signedBy: z.ZodOptional<z.ZodInt>;
        to: z.ZodOptional<z.ZodArray<z.ZodInt>>;
    }, z.core.$strict>, {
        messageId: number;
        mediaId: string;
        url: string;
    }>;
    addMedia: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        base64: z.ZodString;
    }, z.core.$strict>, {
        mediaId: string;
        url: string;
    }>;
    addPerson: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        username: z.ZodString;
        firstName: z.ZodOptional<z.ZodString>;
        lastName: z.ZodOptional<z.ZodNullable<z.ZodString>>;
    }, z.core.$strict>, {
        id: number;
        username: string;
    }>;
    publishKey: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        userId: z.ZodInt;
        publicKey: z.ZodString;
        fingerprint: z.ZodString;
    }, z.core.$strict>, {
        published: boolean;
    }>;
    block: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        userId: z.ZodInt;
        botId: z.ZodInt;
    }, z.core.$strict>, {
        blocked: boolean;
    }>;
    unblock: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        userId: z.ZodInt;
        botId: z.ZodInt;
    }, z.core.$strict>, {
        blocked: boolean;
    }>;
    closeAccount: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        userId: z.ZodInt;
    }, z.core.$strict>, {
        gone: boolean;
    }>;
    renamePerson: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        userId: z.ZodInt;
        username: z.ZodString;
    }, z.core.$strict>, {
        id: number;
        username: string;
    }>;
    people: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{}, z.core.$strict>, {
        id: number;
        username: string;
    }[]>;
    commandsFor: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        userId: z.ZodInt;
        chatId: z.ZodInt;
        botId: z.ZodInt;
    }, z.core.$strict>, {
        command: string;
        description: string;
    }[]>;
    write: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        userId: z.ZodInt;
        chatId: z.ZodInt;
        text: z.ZodString;
        replyTo: z.ZodOptional<z.ZodInt>;
    }, z.core.$strict>, {
        messageId: number;
    }>;
    post: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
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
    press: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        userId: z.ZodInt;
        chatId: z.ZodInt;
        messageId: z.ZodInt;
        data: z.ZodOptional<z.ZodString>;
    }, z.core.$strict>, {
        callbackId: string;
    }>;
    messages: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
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
    inbox: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
        userId: z.ZodInt;
    }, z.core.$strict>, {
        inbox: readonly import("../phone/phone.ts").InboxEntry[];
        keyChanges: readonly import("../phone/phone.ts").KeyChange[];
        answers: readonly import("../phone/phone.ts").ReceivedAnswer[];
    }>;
    givePhone: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
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
    newKey: import("../../rpc/operation.ts").Operation<ControlContext, z.ZodObject<{
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
/** The operations as one calls them, in this process or over the control listener. */
export type Control = Calls<typeof OPERATIONS>;
export type OperationName = keyof typeof OPERATIONS;
/** The operations by name, to iterate over. */
export declare const ALL_OPERATIONS: readonly [OperationName, AnyOperation<ControlContext, z.ZodObject>][];
/** Binds the operations to a world. An operation gives its result once its changes are written. */
export declare function bindControl(on: ControlContext): Control;
