/**
 * Has what nobody waits for done when this turn of the event loop is over, for all at once: line
 * by line between two calls, a log or a count costs several times as much.
 * @param tell called with each, in the order in which they came; must not throw
 */
export function atTurnEnd<T>(tell: (one: T) => void): (one: T) => void {
  let waiting: T[] = []
  const tellAll = (): void => {
    const all = waiting
    waiting = []
    for (const one of all) tell(one)
  }
  return (one) => {
    if (waiting.push(one) === 1) setImmediate(tellAll)
  }
}
