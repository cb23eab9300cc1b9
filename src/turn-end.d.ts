/**
 * Has what nobody waits for done when this turn of the event loop is over, for all at once: line
 * by line between two calls, a log or a count costs several times as much.
 * @param tell called with each, in the order in which they came; must not throw
 */
export declare function atTurnEnd<T>(tell: (one: T) => void): (one: T) => void;
