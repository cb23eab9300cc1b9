import { z } from 'zod';
/** An identifier or count of the API: an integer that JSON and JavaScript both hold exactly. */
export declare const int: z.ZodInt;
/** `ts` of the spec: integer milliseconds since the Unix epoch. */
export declare const ts: z.ZodInt;
/** A field on which nothing is decided: absent, null or of another type, it is undefined or null. */
export declare function perhaps<T extends z.ZodType>(schema: T): z.ZodCatch<z.ZodOptional<z.ZodNullable<T>>>;
/** An object of which only some fields concern us; the others are kept (spec, Versioning). */
export type Json = null | boolean | number | string | Json[] | {
    [key: string]: Json;
};
/** True for a JSON object, false for arrays, null and scalars. */
export declare function isObject(value: unknown): value is Record<string, unknown>;
/** The first thing wrong with a value, as "field: what was expected", for a `bad_request`. */
export declare function firstProblem(error: z.ZodError): string;
