/** Operations on secret keys, and on what they rest under. */
import { z } from 'zod';
export declare const SECRETS: {
    keyGenerate: import("../rpc/operation.ts").Operation<import("./operation.ts").Parts, z.ZodObject<{}, z.core.$strict>, {
        fingerprint: string;
        state: import("../keys/own-key.ts").KeyState;
        message: string;
    }>;
    keyExport: import("../rpc/operation.ts").Operation<import("./operation.ts").Parts, z.ZodObject<{
        fingerprint: z.ZodOptional<z.ZodString>;
        passphrase: z.ZodString;
    }, z.core.$strict>, {
        fingerprint: string;
        state: import("../keys/own-key.ts").KeyState;
        armored: string;
    }>;
    keyImport: import("../rpc/operation.ts").Operation<import("./operation.ts").Parts, z.ZodObject<{
        file: z.ZodBase64;
        passphrase: z.ZodNullable<z.ZodString>;
    }, z.core.$strict>, {
        fingerprint: string;
        state: import("../keys/own-key.ts").KeyState;
        message: string;
    }>;
    keyProtect: import("../rpc/operation.ts").Operation<import("./operation.ts").Parts, z.ZodObject<{
        protection: z.ZodEnum<{
            keychain: "keychain";
            none: "none";
            passphrase: "passphrase";
        }>;
        passphrase: z.ZodNullable<z.ZodString>;
    }, z.core.$strict>, {
        protection: "keychain" | "none" | "passphrase";
        message: string;
    }>;
};
