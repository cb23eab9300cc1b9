export type RecordKey = string | number

/** Called after an entry was added or changed, and before one is deleted. */
type MapListener<K> = (key: K, isDeleted: boolean) => void

/**
 * A map that reports every change, also when a field of one of its values is set. It observes the
 * values that `get` gives: to change a value after adding it, get it back first.
 */
export class ObservedMap<K extends RecordKey, V> extends Map<K, V> {
  readonly #listener: MapListener<K>

  /** @param entries the first entries, which are not reported */
  constructor(entries: Iterable<[K, V]>, listener: MapListener<K>) {
    super()
    this.#listener = listener
    for (const [key, value] of entries) this.#add(key, value)
  }

  override set(key: K, value: V): this {
    this.#add(key, value)
    this.#listener(key, false)
    return this
  }

  #add(key: K, value: V): void {
    const onChange = (): void => this.#listener(key, false)
    super.set(key, observed(value, onChange))
  }

  override delete(key: K): boolean {
    if (!this.has(key)) return false
    this.#listener(key, true)
    return super.delete(key)
  }

  override clear(): void {
    for (const key of this.keys()) this.#listener(key, true)
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
