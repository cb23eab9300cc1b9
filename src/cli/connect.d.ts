/** Connects to a sidecar: the running one through its socket, or its data directory when none runs. */
import type { Command } from 'commander';
import type { Sources } from '../config/sources.ts';
import type { Operations } from '../control/operations.ts';
/**
 * Does something with the sidecar of the settings' `dataDir`, whether it runs or not.
 * @param use gets its operations, and the sources of the settings
 * @param o `mayCreateStore`: when none runs and there is no store, one is made
 * @throws what `use` throws; OperatorError when the settings or the data directory refuse
 */
export declare function withSidecar<T>(command: Command, use: (sidecar: Operations, sources: Sources) => Promise<T>, o?: {
    mayCreateStore: boolean;
}): Promise<T>;
/** The same, for sources that were read before. */
export declare function withSidecarFrom<T>(sources: Sources, use: (sidecar: Operations, sources: Sources) => Promise<T>, o?: {
    mayCreateStore: boolean;
}): Promise<T>;
