import type { DatabaseSync } from 'node:sqlite';
import { Kysely, type Transaction } from 'kysely';
import { type Moved, type Relock } from './move.ts';
import { type Held, type Method, type Wanted } from './protection.ts';
import type { Schema } from './schema.ts';
import type { Store } from './store.ts';
/** A store that is open; `openStore` makes it, and `Store` says what it does. */
export declare class OpenStore implements Store {
    #private;
    constructor(o: {
        dataDir: string;
        database: DatabaseSync;
        held: Held | null;
    });
    get method(): Method | null;
    get masterSecret(): string | null;
    read<T>(query: (db: Kysely<Schema>) => Promise<T>): Promise<T>;
    write<T>(change: (db: Transaction<Schema>) => Promise<T>): Promise<T>;
    note<T>(change: (db: Transaction<Schema>) => Promise<T>): Promise<T>;
    onWritable(listener: (writable: boolean) => void): void;
    seal(name: string, secret: Uint8Array): Buffer;
    unseal(name: string, sealed: Uint8Array): Buffer;
    secret(name: string): Promise<Buffer>;
    copy(): Promise<string>;
    scrub(): Promise<void>;
    move(wanted: Wanted, relock: Relock): Promise<Moved>;
    upgrade(relock: Relock): Promise<boolean>;
    [Symbol.asyncDispose](): Promise<void>;
}
