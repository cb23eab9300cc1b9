import type { RecordKey } from './persistence.ts'

/** Told of every change: `gone` before an entry leaves, `changed` after one came or changed. */
export interface Notes<K> {
  changed(key: K): void
  gone(key: K): void
}

/**
 * A map that tells of every change in it, also of a field set on one of its values. Values are
 * watched as they are got from the map: who adds one and goes on changing it gets it back first.
 */
export class ObservedMap<K extends RecordKey, V> extends Map<K, V> {
  #notes: Notes<K> | undefined

  /** @param entries what was kept, of which nothing is told */
  constructor(entries: Iterable<[K, V]>, notes: Notes<K>) {
    super()
    for (const [key, value] of entries)
      super.set(
        key,
        watched(value, () => notes.changed(key)),
      )
    this.#notes = notes
  }

  override set(key: K, value: V): this {
    const notes = this.#notes
    super.set(key, notes === undefined ? value : watched(value, () => notes.changed(key)))
    notes?.changed(key)
    return this
  }

  override delete(key: K): boolean {
    if (!this.has(key)) return false
    this.#notes?.gone(key)
    return super.delete(key)
  }

  override clear(): void {
    for (const key of this.keys()) this.#notes?.gone(key)
    super.clear()
  }
}

/** A record that tells when a field of it is set; anything else as it is. */
function watched<V>(value: V, changed: () => void): V {
  if (typeof value !== 'object' || value === null) return value
  if (Object.getPrototypeOf(value) !== Object.prototype) return value
  return new Proxy(value, {
    set: (target, name, next) => {
      changed()
      return Reflect.set(target, name, next)
    },
  })
}
