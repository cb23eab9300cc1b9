import { z } from 'zod';
/** Handles that can be resolved, without `@`. */
export declare const USERNAME: RegExp;
/** Result of `GET /resolve/{username}`. Values of `kind` are not shown by the spec. */
export declare const Resolved: z.ZodObject<{
    id: z.ZodInt;
    kind: z.ZodString;
    username: z.ZodString;
}, z.core.$loose>;
export type Resolved = z.infer<typeof Resolved>;
