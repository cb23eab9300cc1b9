import type { DatabaseSync } from 'node:sqlite';
import { type Wish } from './choose.ts';
import { type Held } from './protection.ts';
/** A database that is ours until it is closed. */
export interface Acquired {
    database: DatabaseSync;
    /** Null when the store has no protection and none was asked for. */
    held: Held | null;
}
/** Where the store is, whether it may be made, and what it is to rest under. */
export interface Opening extends Wish {
    dataDir: string;
    mode: 'create' | 'existing';
}
/**
 * All of opening: everything that can be refused is refused while only looking, before anything
 * is made or opened for writing. See `openStore` for what it takes and throws.
 */
export declare function acquire(o: Opening): Promise<Acquired>;
