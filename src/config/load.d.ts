import { SecretSource } from './secrets.ts';
import type { Secrets, Settings } from './settings.ts';
import type { Sources } from './sources.ts';
/** Settings, secrets, and where each came from. */
export interface Loaded {
    settings: Settings;
    secrets: Secrets;
    /** By dotted path: file and line, variable or flag. What is not in it is a default. */
    origins: ReadonlyMap<string, string>;
}
/**
 * Loads everything that `run` needs.
 * @throws OperatorError `settings`, with every problem of every source at once
 */
export declare function load(sources: Sources): Loaded;
/**
 * Finds out where a running sidecar would be, for commands that talk to it; whether the rest of
 * the settings would do for a start is not asked.
 * @returns `dataDir`, absolute
 * @throws OperatorError `settings` when any source holds something wrong or unknown
 */
export declare function loadDataDir(sources: Sources): string;
/** What opens a store, or a copy of one. */
export interface Keeping {
    /** Absolute. */
    dataDir: string;
    protection: Settings['key']['protection'];
    passphrase: SecretSource | null;
}
/**
 * Loads what commands need that open a store and never reach the service.
 * @throws OperatorError `settings`, with every problem of every source at once
 */
export declare function loadKeeping(sources: Sources): Keeping;
