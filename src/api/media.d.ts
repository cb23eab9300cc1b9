import { z } from 'zod';
/** An attachment. The spec shows an id, a url of the form `/media/<id>`, and a duration in ms. */
export declare const MediaItem: z.ZodObject<{
    id: z.ZodUnion<readonly [z.ZodInt, z.ZodString]>;
    url: z.ZodString;
}, z.core.$loose>;
export type MediaItem = z.infer<typeof MediaItem>;
/** Media ids that are ever put into a path. */
export declare const MEDIA_ID: RegExp;
/**
 * The id in a url of the form `/media/<id>`, as it stands or behind the service's base url.
 * @param baseUrl without a slash at its end
 * @returns null for any other url
 */
export declare function mediaIdOf(url: string, baseUrl: string): string | null;
