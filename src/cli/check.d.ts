import { Command } from 'commander';
import type { Sources } from '../config/sources.ts';
/** `postern check`: the doctor. */
export declare function checkCommand(): Command;
/**
 * Looks at everything that these sources lead to, and prints what was found.
 * @throws OperatorError `failed` when a line failed; else what keeps the doctor from looking
 */
export declare function checkSources(sources: Sources, { json }: {
    json?: boolean;
}): Promise<void>;
