import { z } from 'zod';
/** The names that the `limits` object of `GET /me` holds, with the values of the spec. */
export declare const LIMITS: {
    readonly textMax: 4096;
    readonly armoredMax: 131072;
    readonly keyboardRows: 20;
    readonly buttonsPerRow: 8;
    readonly buttonsTotal: 100;
    readonly buttonTextMax: 64;
    readonly callbackDataBytes: 64;
    readonly urlMax: 1024;
    readonly callbackAnswerMax: 200;
    readonly callbackWindowMs: 60000;
    readonly pollTimeoutMaxS: 50;
    readonly pollLimitMax: 100;
    readonly sendsPerSecond: 30;
    readonly sendsPerGroupPerMinute: 20;
    readonly sendsPerPrivatePerSecond: 1;
    readonly apiCallsPerMinute: 600;
};
/** Limits that the spec states but that `/me` need not name. */
export declare const FIXED_LIMITS: {
    readonly apiCallsPerAddressPerMinute: 1200;
    readonly lookupsPerMinute: 60;
    readonly missedLookupWeight: 5;
    readonly typingIntervalMs: 3000;
    readonly publicKeyMax: 65536;
    readonly markupBytes: 8192;
    readonly commandsPerScope: 100;
    readonly webhookUrlMax: 1024;
    readonly webhookAnswerMs: 10000;
    readonly webhookBackoffFirstMs: 1000;
    readonly webhookBackoffMaxMs: 3600000;
    readonly webhookFailuresToTell: 10;
    readonly retentionMs: number;
    readonly retentionUpdates: 10000;
    readonly requestBytes: number;
    readonly deliveredTextMax: 4000;
    readonly mediaMaxBytes: number;
};
export type Limits = {
    -readonly [name in keyof typeof LIMITS]: number;
};
/** The `limits` object: all values integers, further names allowed. */
export declare const LimitsObject: z.ZodRecord<z.ZodString, z.ZodNumber>;
/**
 * Reads `/me`'s limits. Takes the object as it came. Gives every known name: the service's value
 * when it is a whole number from 1 up to 16 times the spec's, else the spec's own, so that a
 * poisoned limit can neither silence the bot nor lift a bound.
 */
export declare function readLimits(reported: unknown): Limits;
