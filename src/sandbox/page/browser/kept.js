/** Keeps what was known where it is loaded again and not different. */

/**
 * What was known, where nothing is different now: views see by that what they need not draw anew.
 * @template T
 * @param {T} before
 * @param {T} now
 * @returns {T}
 */
export function kept(before, now) {
  return JSON.stringify(before) === JSON.stringify(now) ? before : now
}

/**
 * The same for each entry of a list.
 * @template T
 * @param {T[]} before
 * @param {T[]} now
 * @param {(entry: T) => number} idOf
 * @returns {T[]}
 */
export function keptEach(before, now, idOf) {
  const known = new Map(before.map((entry) => [idOf(entry), entry]))
  return now.map((entry) => kept(known.get(idOf(entry)) ?? entry, entry))
}
