import { type Calls } from '../rpc/operation.ts';
import type { Parts } from './operation.ts';
/** What an operator can ask of a sidecar, by name. */
export declare const OPERATIONS: {
    backupCreate: import("../rpc/operation.ts").Operation<Parts, import("zod").ZodObject<{}, import("zod/v4/core").$strict>, {
        file: string;
        protection: "keychain" | "none" | "passphrase" | null;
    }>;
    backupAccept: import("../rpc/operation.ts").Operation<Parts, import("zod").ZodObject<{
        isLatest: import("zod").ZodBoolean;
    }, import("zod/v4/core").$strict>, {
        message: string;
    }>;
    chatList: import("../rpc/operation.ts").Operation<Parts, import("zod").ZodObject<{}, import("zod/v4/core").$strict>, import("./chats.ts").ChatRow[]>;
    chatAllowReadable: import("../rpc/operation.ts").Operation<Parts, import("zod").ZodUnion<readonly [import("zod").ZodObject<{
        chatIds: import("zod").ZodArray<import("zod").ZodInt>;
    }, import("zod/v4/core").$strict>, import("zod").ZodObject<{
        pending: import("zod").ZodLiteral<true>;
    }, import("zod/v4/core").$strict>, import("zod").ZodObject<{
        private: import("zod").ZodLiteral<true>;
    }, import("zod/v4/core").$strict>]>, {
        lifted: number[];
        message: string;
    }>;
    chatBind: import("../rpc/operation.ts").Operation<Parts, import("zod").ZodObject<{
        chatId: import("zod").ZodInt;
        userId: import("zod").ZodInt;
    }, import("zod/v4/core").$strict>, {
        message: string;
    }>;
    explainUpdate: import("../rpc/operation.ts").Operation<Parts, import("zod").ZodObject<{
        updateId: import("zod").ZodInt;
    }, import("zod/v4/core").$strict>, {
        at: string;
        chatId: number | null;
        messageId: number | null;
        userId: number | null;
        verdict: string;
        reason: string | null;
        delivered: boolean;
        openedWith: {
            fingerprint: string;
            state: string;
        } | null;
        signer: string | null;
    }[]>;
    explainSent: import("../rpc/operation.ts").Operation<Parts, import("zod").ZodObject<{
        messageId: import("zod").ZodInt;
    }, import("zod/v4/core").$strict>, {
        at: string;
        chatId: number;
        recipients: number;
        skipped: {
            userId: number;
            reason: string;
        }[];
    } | null>;
    keyRotate: import("../rpc/operation.ts").Operation<Parts, import("zod").ZodObject<{}, import("zod/v4/core").$strict>, import("./reports.ts").RotationReport>;
    keyRotation: import("../rpc/operation.ts").Operation<Parts, import("zod").ZodObject<{}, import("zod/v4/core").$strict>, import("./reports.ts").RotationReport | null>;
    keyAbandon: import("../rpc/operation.ts").Operation<Parts, import("zod").ZodObject<{}, import("zod/v4/core").$strict>, import("./reports.ts").RotationReport>;
    keyList: import("../rpc/operation.ts").Operation<Parts, import("zod").ZodObject<{}, import("zod/v4/core").$strict>, {
        fingerprint: string;
        state: import("../keys/own-key.ts").KeyState;
        createdAt: string;
        publishedAt: string | null;
        retiredAt: string | null;
        destroyedAt: string | null;
        opensUntil: string | null;
        opens: boolean;
        openedMessages: number;
        openedMedia: number;
        lastOpenedAt: string | null;
    }[]>;
    keyShow: import("../rpc/operation.ts").Operation<Parts, import("zod").ZodObject<{
        fingerprint: import("zod").ZodOptional<import("zod").ZodString>;
    }, import("zod/v4/core").$strict>, {
        fingerprint: string;
        state: import("../keys/own-key.ts").KeyState;
        certificate: string;
    }>;
    keyPublish: import("../rpc/operation.ts").Operation<Parts, import("zod").ZodObject<{
        replace: import("zod").ZodBoolean;
    }, import("zod/v4/core").$strict>, {
        fingerprint: string;
        state: import("../keys/standing.ts").PublicationState;
        message: string;
    }>;
    keyDeletion: import("../rpc/operation.ts").Operation<Parts, import("zod").ZodObject<{
        fingerprint: import("zod").ZodString;
    }, import("zod/v4/core").$strict>, {
        key: {
            fingerprint: string;
            state: import("../keys/own-key.ts").KeyState;
            createdAt: string;
            publishedAt: string | null;
            retiredAt: string | null;
            destroyedAt: string | null;
            opensUntil: string | null;
            opens: boolean;
            openedMessages: number;
            openedMedia: number;
            lastOpenedAt: string | null;
        };
        loses: string[];
        unsure: string[];
    }>;
    keyDelete: import("../rpc/operation.ts").Operation<Parts, import("zod").ZodObject<{
        fingerprint: import("zod").ZodString;
    }, import("zod/v4/core").$strict>, {
        fingerprint: string;
        message: string;
    }>;
    keyGenerate: import("../rpc/operation.ts").Operation<Parts, import("zod").ZodObject<{}, import("zod/v4/core").$strict>, {
        fingerprint: string;
        state: import("../keys/own-key.ts").KeyState;
        message: string;
    }>;
    keyExport: import("../rpc/operation.ts").Operation<Parts, import("zod").ZodObject<{
        fingerprint: import("zod").ZodOptional<import("zod").ZodString>;
        passphrase: import("zod").ZodString;
    }, import("zod/v4/core").$strict>, {
        fingerprint: string;
        state: import("../keys/own-key.ts").KeyState;
        armored: string;
    }>;
    keyImport: import("../rpc/operation.ts").Operation<Parts, import("zod").ZodObject<{
        file: import("zod").ZodBase64;
        passphrase: import("zod").ZodNullable<import("zod").ZodString>;
    }, import("zod/v4/core").$strict>, {
        fingerprint: string;
        state: import("../keys/own-key.ts").KeyState;
        message: string;
    }>;
    keyProtect: import("../rpc/operation.ts").Operation<Parts, import("zod").ZodObject<{
        protection: import("zod").ZodEnum<{
            keychain: "keychain";
            none: "none";
            passphrase: "passphrase";
        }>;
        passphrase: import("zod").ZodNullable<import("zod").ZodString>;
    }, import("zod/v4/core").$strict>, {
        protection: "keychain" | "none" | "passphrase";
        message: string;
    }>;
    status: import("../rpc/operation.ts").Operation<Parts, import("zod").ZodObject<{}, import("zod/v4/core").$strict>, import("./reports.ts").StatusReport>;
    check: import("../rpc/operation.ts").Operation<Parts, import("zod").ZodObject<{}, import("zod/v4/core").$strict>, import("./reports.ts").Finding[]>;
    open: import("../rpc/operation.ts").Operation<Parts, import("zod").ZodObject<{
        armored: import("zod").ZodString;
    }, import("zod/v4/core").$strict>, import("./reports.ts").OpenReport>;
    trustList: import("../rpc/operation.ts").Operation<Parts, import("zod").ZodObject<{}, import("zod/v4/core").$strict>, import("./trust.ts").TrustReport>;
    trustAccept: import("../rpc/operation.ts").Operation<Parts, import("zod").ZodObject<{
        userId: import("zod").ZodInt;
        fingerprint: import("zod").ZodOptional<import("zod").ZodString>;
    }, import("zod/v4/core").$strict>, {
        message: string;
    }>;
    trustVerify: import("../rpc/operation.ts").Operation<Parts, import("zod").ZodObject<{
        userId: import("zod").ZodInt;
        fingerprint: import("zod").ZodString;
    }, import("zod/v4/core").$strict>, {
        message: string;
    }>;
    trustBlock: import("../rpc/operation.ts").Operation<Parts, import("zod").ZodObject<{
        userId: import("zod").ZodInt;
    }, import("zod/v4/core").$strict>, {
        message: string;
    }>;
    trustPolicy: import("../rpc/operation.ts").Operation<Parts, import("zod").ZodObject<{
        chatId: import("zod").ZodNullable<import("zod").ZodInt>;
        policy: import("zod").ZodNullable<import("zod").ZodEnum<{
            accept: "accept";
            "first-use": "first-use";
            pinned: "pinned";
        }>>;
    }, import("zod/v4/core").$strict>, {
        message: string;
    }>;
    trustLog: import("../rpc/operation.ts").Operation<Parts, import("zod").ZodObject<{
        afterId: import("zod").ZodInt;
        sinceMs: import("zod").ZodInt;
        limit: import("zod").ZodInt;
    }, import("zod/v4/core").$strict>, import("./trust.ts").LogRow[]>;
};
/** The operations as one calls them: in this process, or over the control socket. */
export type Operations = Calls<typeof OPERATIONS>;
/** Binds the operations to the parts of a sidecar. */
export declare function bindOperations(parts: Parts): Operations;
