/** Moving what is secret from one protection to another. */
import type { Kysely } from 'kysely';
import type { Held } from './protection.ts';
import type { ProtectionTable, Schema } from './schema.ts';
/** Gives an armored OpenPGP secret key locked anew; it must be seen to open before it is given. */
export type Relock = (locked: string, secrets: {
    from: string;
    to: string;
}) => Promise<string>;
/** What a move leaves behind. */
export interface Moved {
    isScrubbed: boolean;
    oldEntry: string | null;
}
/** Every locked key as it was, with what it becomes. */
export type Relocked = ReadonlyMap<string, {
    was: string;
    becomes: string;
}>;
/** The protection that everything moves to. */
export interface Target {
    held: Held;
    row: ProtectionTable;
}
/** Locks every key anew, writing nothing yet: it takes long, and others go on meanwhile. */
export declare function relockAll(db: Kysely<Schema>, o: {
    from: Held | null;
    to: Held;
    relock: Relock;
}): Promise<Relocked>;
/**
 * Writes the move in one transaction.
 * @returns false, with nothing written, when the keys are not those that were locked anew
 * @throws OperatorError `store-corrupt` when a sealed secret does not open under the old protection
 */
export declare function writeMove(db: Kysely<Schema>, o: {
    from: Held | null;
    to: Target;
    relocked: Relocked;
}): Promise<boolean>;
