/** Operations on the bot's own keys. */
import { z } from 'zod';
import type { Keyring } from '../keys/keyring.ts';
import type { OwnKeyRecord } from '../keys/own-key.ts';
import { type Parts } from './operation.ts';
/** One of the bot's own keys. Times are ISO 8601 in UTC. */
export type KeyRow = ReturnType<typeof keyRow>;
/** What deleting a key would do. */
export type DeletionReport = ReturnType<typeof describeDeletion>;
export declare const KEYS: {
    keyList: import("../rpc/operation.ts").Operation<Parts, z.ZodObject<{}, z.core.$strict>, {
        fingerprint: string;
        state: import("../keys/own-key.ts").KeyState;
        createdAt: string;
        publishedAt: string | null;
        retiredAt: string | null;
        destroyedAt: string | null;
        /** Null: without end, or not at all when it is destroyed. */
        opensUntil: string | null;
        /** Whether it opens now. */
        opens: boolean;
        openedMessages: number;
        openedMedia: number;
        lastOpenedAt: string | null;
    }[]>;
    keyShow: import("../rpc/operation.ts").Operation<Parts, z.ZodObject<{
        fingerprint: z.ZodOptional<z.ZodString>;
    }, z.core.$strict>, {
        fingerprint: string;
        state: import("../keys/own-key.ts").KeyState;
        certificate: string;
    }>;
    keyPublish: import("../rpc/operation.ts").Operation<Parts, z.ZodObject<{
        replace: z.ZodBoolean;
    }, z.core.$strict>, {
        fingerprint: string;
        state: import("../keys/standing.ts").PublicationState;
        message: string;
    }>;
    keyDeletion: import("../rpc/operation.ts").Operation<Parts, z.ZodObject<{
        fingerprint: z.ZodString;
    }, z.core.$strict>, {
        key: {
            fingerprint: string;
            state: import("../keys/own-key.ts").KeyState;
            createdAt: string;
            publishedAt: string | null;
            retiredAt: string | null;
            destroyedAt: string | null;
            /** Null: without end, or not at all when it is destroyed. */
            opensUntil: string | null;
            /** Whether it opens now. */
            opens: boolean;
            openedMessages: number;
            openedMedia: number;
            lastOpenedAt: string | null;
        };
        /** What becomes unreadable, for people, a line each. */
        loses: string[];
        /** What cannot be promised of its destruction, a line each. */
        unsure: string[];
    }>;
    keyDelete: import("../rpc/operation.ts").Operation<Parts, z.ZodObject<{
        fingerprint: z.ZodString;
    }, z.core.$strict>, {
        fingerprint: string;
        message: string;
    }>;
};
/** @throws OperatorError `refused` */
export declare function findKey(keyring: Keyring, named: string | undefined): OwnKeyRecord;
declare function keyRow(key: OwnKeyRecord, { keyring, openings }: Parts): {
    fingerprint: string;
    state: import("../keys/own-key.ts").KeyState;
    createdAt: string;
    publishedAt: string | null;
    retiredAt: string | null;
    destroyedAt: string | null;
    /** Null: without end, or not at all when it is destroyed. */
    opensUntil: string | null;
    /** Whether it opens now. */
    opens: boolean;
    openedMessages: number;
    openedMedia: number;
    lastOpenedAt: string | null;
};
/** @param copies names of copies of the store that lie beside it */
declare function describeDeletion(key: KeyRow, copies: readonly string[]): {
    key: {
        fingerprint: string;
        state: import("../keys/own-key.ts").KeyState;
        createdAt: string;
        publishedAt: string | null;
        retiredAt: string | null;
        destroyedAt: string | null;
        /** Null: without end, or not at all when it is destroyed. */
        opensUntil: string | null;
        /** Whether it opens now. */
        opens: boolean;
        openedMessages: number;
        openedMedia: number;
        lastOpenedAt: string | null;
    };
    /** What becomes unreadable, for people, a line each. */
    loses: string[];
    /** What cannot be promised of its destruction, a line each. */
    unsure: string[];
};
export {};
