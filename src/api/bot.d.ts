import { z } from 'zod';
/** The bot's own webhook as `/me` shows it. */
export declare const BotWebhook: z.ZodObject<{
    url: z.ZodNullable<z.ZodString>;
    hasSecret: z.ZodBoolean;
    failures: z.ZodInt;
    lastError: z.ZodNullable<z.ZodString>;
}, z.core.$loose>;
/**
 * Result of `GET /me`. `mode` is `protected` when a key is published, and `fingerprint` is that
 * key's; both are the service's claim. Only what the sidecar decides on is demanded.
 */
export declare const Bot: z.ZodObject<{
    id: z.ZodInt;
    username: z.ZodCatch<z.ZodOptional<z.ZodNullable<z.ZodString>>>;
    name: z.ZodCatch<z.ZodOptional<z.ZodNullable<z.ZodString>>>;
    about: z.ZodCatch<z.ZodOptional<z.ZodNullable<z.ZodString>>>;
    description: z.ZodCatch<z.ZodOptional<z.ZodNullable<z.ZodString>>>;
    mode: z.ZodEnum<{
        open: "open";
        protected: "protected";
    }>;
    fingerprint: z.ZodOptional<z.ZodNullable<z.ZodString>>;
    privacyMode: z.ZodCatch<z.ZodOptional<z.ZodNullable<z.ZodBoolean>>>;
    allowGroups: z.ZodCatch<z.ZodOptional<z.ZodNullable<z.ZodBoolean>>>;
    status: z.ZodCatch<z.ZodOptional<z.ZodNullable<z.ZodString>>>;
    webhook: z.ZodCatch<z.ZodOptional<z.ZodNullable<z.ZodObject<{
        url: z.ZodNullable<z.ZodString>;
        hasSecret: z.ZodBoolean;
        failures: z.ZodInt;
        lastError: z.ZodNullable<z.ZodString>;
    }, z.core.$loose>>>>;
    queued: z.ZodCatch<z.ZodOptional<z.ZodNullable<z.ZodInt>>>;
    limits: z.ZodOptional<z.ZodUnknown>;
}, z.core.$loose>;
export type Bot = z.infer<typeof Bot>;
