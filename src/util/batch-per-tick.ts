/**
 * Defers work that nobody waits for to the end of this turn of the event loop, and does all of it
 * at once. Line by line between two calls, a log or a count costs several times as much.
 * @param handle called with each item, in the order in which they came; must not throw
 * @returns takes an item
 */
export function batchPerTick<T>(handle: (item: T) => void): (item: T) => void {
  let batch: T[] = []
  const flush = (): void => {
    const items = batch
    batch = []
    for (const item of items) handle(item)
  }
  return (item) => {
    if (batch.push(item) === 1) setImmediate(flush)
  }
}
