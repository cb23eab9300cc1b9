/** So many of them, evenly spread; all where there are no more. */
export function sampleOf<T>(all: readonly T[], count: number): T[] {
  if (all.length <= count) return [...all]
  return Array.from({ length: count }, (_, n) => all[Math.floor(((n + 0.5) * all.length) / count)]!)
}
