import { z } from 'zod';
/** Body of `POST /callbacks/{callbackId}/answer`, which may also be absent. Never encrypted. */
export declare const CallbackAnswer: z.ZodObject<{
    text: z.ZodOptional<z.ZodPipe<z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>, z.ZodString>>;
    alert: z.ZodDefault<z.ZodBoolean>;
    url: z.ZodOptional<z.ZodString>;
}, z.core.$strict>;
export type CallbackAnswer = z.infer<typeof CallbackAnswer>;
/**
 * A press of a button as we write it; readers find any Message inside by its shape, because the
 * spec shows no field beyond the id.
 */
export interface CallbackQuery {
    id: string;
    from: {
        id: number;
    };
    message: unknown;
    data: string;
}
