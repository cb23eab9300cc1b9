import type { Loaded } from '../config/load.ts';
import type { Log } from '../logger.ts';
/**
 * The log that settings ask for, with all their secrets scrubbed from it.
 * @param preset the level when none was set
 */
export declare function createLog({ settings, secrets, origins }: Loaded, preset?: string): Log;
