import type { Problem } from './problems.ts';
import type { Sources } from './sources.ts';
import type { Given } from './yaml-file.ts';
/** What is set and what secrets there are. */
export interface Whole {
    values: ReadonlyMap<string, Given>;
    /** Dotted paths of the secrets that some source gives. */
    secrets: ReadonlySet<string>;
    /** Absolute. */
    dataDir: string;
    sources: Sources;
}
/** Applies every rule; gives all problems. */
export declare function applyRules(whole: Whole): Problem[];
/** A folder for files that hold secrets: the user's own, and outside `dataDir`. */
export declare function secretsFolder(dataDir: string, { home }: Pick<Sources, 'home'>): string;
/** Whether a path is a folder or lies in it; both absolute. */
export declare function isInside(path: string, folder: string): boolean;
/** The exact commands that make a passphrase file outside `dataDir`. */
export declare function passphraseCommands({ dataDir, sources, }: Pick<Whole, 'dataDir' | 'sources'>): string;
