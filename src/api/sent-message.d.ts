import { z } from 'zod';
/** Result of a send (201, or 200 on a repeated `sendId`) and of an edit (200). */
export declare const SentMessage: z.ZodObject<{
    id: z.ZodInt;
    date: z.ZodInt;
}, z.core.$loose>;
export type SentMessage = z.infer<typeof SentMessage>;
