import { z } from 'zod';
/** A button: a text and exactly one of `callbackData` and `url`. Buttons are never encrypted. */
export declare const Button: z.ZodObject<{
    text: z.ZodString;
    callbackData: z.ZodOptional<z.ZodString>;
    url: z.ZodOptional<z.ZodString>;
}, z.core.$strict>;
export type Button = z.infer<typeof Button>;
/** Inline keyboard with every limit of the spec. A breach is `bad_markup`. */
export declare const Markup: z.ZodObject<{
    inlineKeyboard: z.ZodArray<z.ZodArray<z.ZodObject<{
        text: z.ZodString;
        callbackData: z.ZodOptional<z.ZodString>;
        url: z.ZodOptional<z.ZodString>;
    }, z.core.$strict>>>;
}, z.core.$strict>;
export type Markup = z.infer<typeof Markup>;
/** An absolute http or https url without credentials (spec, Button and callback answer). */
export declare function isWebUrl(text: string): boolean;
