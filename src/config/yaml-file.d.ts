import type { Problem } from './problems.ts';
/** A value as one source gives it, not yet checked. */
export interface Given {
    value: unknown;
    place: string;
}
/** What a settings file holds. */
export interface FileSettings {
    /** By dotted path. */
    values: Map<string, Given>;
    problems: Problem[];
    /** False when it could not be read as YAML, so that what it lacks is not known. */
    readable: boolean;
}
/**
 * Reads a settings file of at most 1 MiB. Aliases and tags are refused: settings need neither, and
 * a few lines of aliases unfold to gigabytes.
 * @param path absolute
 * @param cwd what places are named relative to
 */
export declare function readSettingsFile(path: string, cwd: string): FileSettings;
