/** Operations on copies of the whole store. */
import { z } from 'zod';
import { type Parts } from './operation.ts';
export declare const BACKUPS: {
    backupCreate: import("../rpc/operation.ts").Operation<Parts, z.ZodObject<{}, z.core.$strict>, {
        file: string;
        protection: "keychain" | "none" | "passphrase" | null;
    }>;
    backupAccept: import("../rpc/operation.ts").Operation<Parts, z.ZodObject<{
        isLatest: z.ZodBoolean;
    }, z.core.$strict>, {
        message: string;
    }>;
};
