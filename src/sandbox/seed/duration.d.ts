import { z } from 'zod';
/** A duration as text, such as `10s`. */
export declare const Duration: z.ZodString;
/** @param duration one that `Duration` accepts. @returns whole milliseconds */
export declare function parseDurationMs(duration: string): number;
