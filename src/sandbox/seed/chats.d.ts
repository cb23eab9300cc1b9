import type { Control } from '../control/table.ts';
import type { SeedIds } from './ids.ts';
import type { Seed } from './schema.ts';
/** Makes a chat of a seed with its members. Gives its id. */
export declare function addChat(control: Control, o: {
    name: string;
    chat: Seed['chats'][string];
    ids: SeedIds;
    beginsMs: number;
}): Promise<number>;
