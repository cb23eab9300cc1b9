import type { Persistence, RecordKey, RecordKind } from './persistence.ts';
/** Stores a world in a SQLite file that one process has to itself. */
export declare class FilePersistence implements Persistence {
    #private;
    private constructor();
    /**
     * Opens a file, or creates it (mode 0600).
     * @throws OperatorError when it is in use, corrupt, another program's or a newer version's; the
     *   file is not changed then
     */
    static open(file: string): Promise<FilePersistence>;
    map<K extends RecordKey, V>(kind: RecordKind<V>, owner?: RecordKey): Map<K, V>;
    start(): Promise<void>;
    flush(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
}
