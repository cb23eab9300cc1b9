import { LRUCache } from 'lru-cache'

/**
 * A cache of at most so many entries, which takes room as it fills. One that is made with the
 * library's `max` takes the room of all of them from the beginning: megabytes for a bot that idles.
 * @param o `ttlMs` how long an entry counts; for good when absent
 */
export function countedCache<K extends {}, V extends {}>(
  maxEntries: number,
  { ttlMs = 0 }: { ttlMs?: number } = {},
): LRUCache<K, V> {
  return new LRUCache<K, V>({ maxSize: maxEntries, sizeCalculation: () => 1, ttl: ttlMs })
}
