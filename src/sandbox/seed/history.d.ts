import { type ControlContext } from '../control/operation.ts';
import type { Control } from '../control/table.ts';
import type { SeedIds } from './ids.ts';
import type { Seed } from './schema.ts';
/** Posts the history of every chat, each message at its time. Bots get updates as usual. */
export declare function writeHistory(context: ControlContext, control: Control, { seed, ids, beginsMs }: {
    seed: Seed;
    ids: SeedIds;
    beginsMs: number;
}): Promise<void>;
