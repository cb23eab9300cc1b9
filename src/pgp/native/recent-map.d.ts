/** A map bounded by the size of what is in it; what was not asked for lately goes first. */
export declare class RecentMap<V> {
    #private;
    /** @param max size of all entries together */
    constructor(max: number);
    get(key: string): V | undefined;
    /** Keeps a value of a size, in place of the one under its key. */
    set(key: string, value: V, size: number): void;
}
