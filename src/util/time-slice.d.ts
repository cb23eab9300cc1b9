/**
 * Resolves when everything else has had its turn. Of all that wait for theirs, one goes on in each
 * turn of the event loop: however much there is to do, a call that comes in between waits for one
 * slice of it.
 */
export declare function nextTurn(): Promise<void>;
/** For long work in small pieces: asked between two of them, it lets everything else go on. */
export declare class TimeSlice {
    #private;
    /** Resolves at once while the work is young, else when it is its turn again. */
    yieldIfOver(): Promise<void>;
}
