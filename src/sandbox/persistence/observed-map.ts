import type { RecordKey } from './persistence.ts'

export interface MapListener<K> {
  /** After an entry was added or changed. */
  onChange(key: K): void
  /** Before an entry is deleted. */
  onDelete(key: K): void
}

/**
 * A map that reports every change, also when a field of one of its values is set. It observes the
 * values that `get` gives: to change a value after adding it, get it back first.
 */
export class ObservedMap<K extends RecordKey, V> extends Map<K, V> {
  #listener: MapListener<K> | undefined

  /** @param entries the first entries, which are not reported */
  constructor(entries: Iterable<[K, V]>, listener: MapListener<K>) {
    super()
    for (const [key, value] of entries)
      super.set(
        key,
        observed(value, () => listener.onChange(key)),
      )
    this.#listener = listener
  }

  override set(key: K, value: V): this {
    const listener = this.#listener
    super.set(key, listener === undefined ? value : observed(value, () => listener.onChange(key)))
    listener?.onChange(key)
    return this
  }

  override delete(key: K): boolean {
    if (!this.has(key)) return false
    this.#listener?.onDelete(key)
    return super.delete(key)
  }

  override clear(): void {
    for (const key of this.keys()) this.#listener?.onDelete(key)
    super.clear()
  }
}

/** Wraps a plain object so that setting a field calls back; gives any other value as it is. */
function observed<V>(value: V, onChange: () => void): V {
  if (typeof value !== 'object' || value === null) return value
  if (Object.getPrototypeOf(value) !== Object.prototype) return value
  return new Proxy(value, {
    set: (target, name, next) => {
      onChange()
      return Reflect.set(target, name, next)
    },
  })
}
