/** Waiting for work no longer than somebody wants its result. */
/**
 * Gives what the work gives, unless the signal aborts first. It is for work that takes no signal
 * of its own: the work then goes on, and whatever it ends with is dropped.
 * @param signal undefined: there is nothing but the work to wait for
 * @throws the signal's reason when it aborts first, also when it was aborted before; otherwise
 *   what the work fails with
 */
export declare function raceAbort<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T>;
/** A signal that aborts when a time has passed, unless the work is done and disposes it before. */
export declare class Deadline implements Disposable {
    #private;
    /**
     * Begins at once.
     * @param wait resolves when the time has passed, or soon after its signal aborted; never rejects
     */
    constructor(wait: (signal: AbortSignal) => Promise<void>);
    get signal(): AbortSignal;
    [Symbol.dispose](): void;
}
