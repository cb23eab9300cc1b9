/** Anything that takes room until it is closed. */
export interface Cacheable {
    file: {
        readonly restingBytes: number;
        close(): Promise<void>;
    };
}
/** The right to read a cached file until it is released. */
export interface ReadHandle<T> {
    readonly value: T;
    /** May be called more than once. */
    release(): void;
}
/** A file while it is cached or read. */
export declare class CacheEntry<T extends Cacheable> {
    #private;
    readonly value: T;
    constructor(value: T);
    /** The right to read it; null when it is gone already. */
    acquire(): ReadHandle<T> | null;
    drop(): void;
}
/** A cache bounded by size on the disk, by count and by age. */
export declare class FileCache<T extends Cacheable> implements Disposable {
    #private;
    constructor(bounds: {
        maxBytes: number;
        maxFiles: number;
        maxAgeMs: number;
    });
    /** Adds a file. One that is too large for the cache stays until its reader is done. */
    add(key: string, value: T): CacheEntry<T>;
    /** The right to read a cached file; null when there is none under this key. */
    get(key: string): ReadHandle<T> | null;
    [Symbol.dispose](): void;
}
