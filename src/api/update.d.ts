import { z } from 'zod';
/**
 * One update. `updateId` grows and is the identity of a delivery. `message` is present when kind
 * is `message`; the name of a press's payload is not shown by the spec and is left open here.
 */
export declare const Update: z.ZodObject<{
    updateId: z.ZodInt;
    kind: z.ZodString;
}, z.core.$loose>;
export type Update = z.infer<typeof Update>;
/** Result of `GET /updates`: oldest first. */
export declare const Updates: z.ZodArray<z.ZodObject<{
    updateId: z.ZodInt;
    kind: z.ZodString;
}, z.core.$loose>>;
/** Query of `GET /updates`; `timeout` is in seconds. */
export declare const UpdatesQuery: z.ZodObject<{
    offset: z.ZodOptional<z.ZodCoercedNumber<unknown>>;
    limit: z.ZodDefault<z.ZodCoercedNumber<unknown>>;
    timeout: z.ZodDefault<z.ZodCoercedNumber<unknown>>;
}, z.core.$strict>;
export type UpdatesQuery = z.infer<typeof UpdatesQuery>;
