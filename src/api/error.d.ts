import { z } from 'zod';
/** Every error code of the service with its HTTP status (spec, Errors). */
export declare const ERROR_STATUS: {
    readonly bad_request: 400;
    readonly wrong_body_kind: 400;
    readonly bad_markup: 400;
    readonly bad_webhook: 400;
    readonly chat_is_open: 400;
    readonly unauthorized: 401;
    readonly bot_paused: 403;
    readonly forbidden: 403;
    readonly blocked_by_user: 403;
    readonly user_gone: 403;
    readonly not_found: 404;
    readonly chat_not_found: 404;
    readonly message_not_found: 404;
    readonly member_not_found: 404;
    readonly user_not_found: 404;
    readonly username_not_found: 404;
    readonly no_user_key: 404;
    readonly callback_not_found: 404;
    readonly media_not_found: 404;
    readonly conflict: 409;
    readonly webhook_active: 409;
    readonly callback_answered: 409;
    readonly callback_expired: 410;
    readonly too_large: 413;
    readonly rate_limited: 429;
    readonly flood_wait: 429;
    readonly slow_mode: 429;
    readonly internal: 500;
};
export type ErrorCode = keyof typeof ERROR_STATUS;
/** Which of the two kinds of body a chat takes. */
export declare const BodyKind: z.ZodEnum<{
    armored: "armored";
    text: "text";
}>;
export type BodyKind = z.infer<typeof BodyKind>;
/**
 * The error object. `code` is open: unknown codes are read by their status (spec, Versioning).
 * `retryAfter` is in seconds, on 429 only; `expected` comes with `wrong_body_kind` and with the
 * `bad_request` of a send that has no body.
 */
export declare const ApiError: z.ZodObject<{
    status: z.ZodInt;
    code: z.ZodString;
    message: z.ZodString;
    retryAfter: z.ZodCatch<z.ZodOptional<z.ZodNumber>>;
    expected: z.ZodCatch<z.ZodOptional<z.ZodEnum<{
        armored: "armored";
        text: "text";
    }>>>;
}, z.core.$loose>;
export type ApiError = z.infer<typeof ApiError>;
