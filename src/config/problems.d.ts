import { OperatorError } from '../errors.ts';
/** One thing that is wrong. None of its texts repeats a value, for it might be a secret. */
export interface Problem {
    /** `FILE:LINE:COLUMN`, the name of a variable, a flag; empty when it is nowhere. */
    place: string;
    /** The setting, dotted; empty when it is about a whole source. */
    path: string;
    /** What was expected, or what is wrong. */
    message: string;
    /** The nearest right name. */
    nearest?: string | undefined;
    /** What to do, when the message alone does not say it. */
    hint?: string | undefined;
}
/**
 * One refusal out of all problems.
 * @param problems at least one
 * @returns OperatorError `settings`
 */
export declare function settingsError(problems: readonly Problem[]): OperatorError;
/**
 * The name that was probably meant.
 * @returns the candidate with the fewest edits, if these are at most a third of its length, or one
 *   whose last part is what was written; undefined when none is near
 */
export declare function nearestName(written: string, candidates: readonly string[]): string | undefined;
