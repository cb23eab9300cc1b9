import type { Sources } from './sources.ts';
/**
 * Refuses to run in a process that shows its secrets or does not check certificates.
 * @throws OperatorError `environment`, with every reason at once
 */
export declare function refuseUnsafeProcess(sources: Sources): void;
