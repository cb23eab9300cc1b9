import type { RecordKey } from './persistence.ts';
export interface MapListener<K> {
    /** After an entry was added or changed. */
    onChange(key: K): void;
    /** Before an entry is deleted. */
    onDelete(key: K): void;
}
/**
 * A map that reports every change, also when a field of one of its values is set. It observes the
 * values that `get` gives: to change a value after adding it, get it back first.
 */
export declare class ObservedMap<K extends RecordKey, V> extends Map<K, V> {
    #private;
    /** @param entries the first entries, which are not reported */
    constructor(entries: Iterable<[K, V]>, listener: MapListener<K>);
    set(key: K, value: V): this;
    delete(key: K): boolean;
    clear(): void;
}
