import { z } from 'zod';
/** Body of `POST /webhook` by type and length; what the url may point at is `bad_webhook`. */
export declare const SetWebhook: z.ZodObject<{
    url: z.ZodString;
    secret: z.ZodOptional<z.ZodString>;
}, z.core.$strict>;
export type SetWebhook = z.infer<typeof SetWebhook>;
/** Result of `GET /webhook`. The name of the next attempt's field is our choice. */
export declare const WebhookInfo: z.ZodObject<{
    url: z.ZodNullable<z.ZodString>;
    hasSecret: z.ZodBoolean;
    pending: z.ZodInt;
    failures: z.ZodInt;
    lastError: z.ZodNullable<z.ZodString>;
    nextAttemptAt: z.ZodOptional<z.ZodNullable<z.ZodInt>>;
}, z.core.$loose>;
export type WebhookInfo = z.infer<typeof WebhookInfo>;
/**
 * What is wrong with a webhook url by itself (spec, POST /webhook), or null. Whether its host
 * resolves to a public address is for whoever delivers to find out.
 */
export declare function webhookUrlProblem(text: string): string | null;
