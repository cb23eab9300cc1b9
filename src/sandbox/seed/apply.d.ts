import type { ControlContext } from '../control/operation.ts';
import type { Control } from '../control/table.ts';
import type { Seed } from './schema.ts';
/** The time to set the clock to, so that the oldest message of the history is as old as it should be. */
export declare function clockStartMs(seed: Seed): number;
/**
 * Applies a seed to an empty world: accounts and keys, chats, history, then the state at the
 * beginning. Adds the seed's steps to the schedule, which is not started here.
 */
export declare function applySeed(context: ControlContext, control: Control, seed: Seed): Promise<void>;
