import type { SeedProblem } from './problem.ts';
/**
 * Finds what is wrong with a seed beyond its shape: unknown names, duplicate handles, messages that
 * nobody could have written. Takes any value, also of the wrong shape, so that all problems are
 * reported at once.
 */
export declare function findContradictions(raw: unknown): SeedProblem[];
