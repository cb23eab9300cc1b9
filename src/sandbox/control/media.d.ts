import { z } from 'zod';
import { type ControlContext } from './operation.ts';
/** Files that people send, and files stored as they are. */
export declare const MEDIA: {
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
};
