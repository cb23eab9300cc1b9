import type { Problem } from './problems.ts';
import type { Sources } from './sources.ts';
import type { Given } from './yaml-file.ts';
/** What one level (flags, environment, file) gives, by dotted path. */
export type Level = ReadonlyMap<string, Given>;
/** What all sources together say. */
export interface Collected {
    /** From the one that counts most to the one that counts least. */
    levels: readonly Level[];
    /** The value that counts of each setting but secrets, checked, paths absolute. */
    values: Map<string, Given>;
    /** Absolute, the default included. */
    dataDir: string;
    problems: Problem[];
    /** False when the file could not be read, so that what is missing may stand in it. */
    complete: boolean;
}
/**
 * Reads and checks every source; each wrong value is a problem, also where another one counts.
 * @param file the settings file; null for none
 */
export declare function collect(sources: Sources, file?: string | null): Collected;
