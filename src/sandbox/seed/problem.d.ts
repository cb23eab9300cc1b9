import type { z } from 'zod';
import { PosternError } from '../../errors.ts';
/** One thing that is wrong with a seed. */
export interface SeedProblem {
    /** Field names and indexes from the top of the seed. */
    path: (string | number)[];
    /** What was expected, or what is wrong. */
    message: string;
    /** Known names, where the name is unknown. */
    candidates?: readonly string[];
}
/** A seed that is refused, with everything that is wrong with it. */
export declare class SeedError extends PosternError {
    readonly code = "bad_seed";
    readonly problems: readonly SeedProblem[];
    constructor(problems: readonly SeedProblem[]);
}
/** Turns a schema's issues into problems. @param keysOf gives the fields that an object at a path can have */
export declare function toSeedProblems(error: z.ZodError, keysOf: (path: SeedProblem['path']) => readonly string[]): SeedProblem[];
