/** A clock's stored state. A `running` clock also goes on while no process has it open. */
export type ClockState = {
    mode: 'running';
    aheadMs: number;
} | {
    mode: 'still';
    nowMs: number;
};
/**
 * The sandbox's clock, on which all times and limits of the spec are measured. `running` follows
 * real time; `still` stands until `advance` moves it. Both can be moved forward; every wait that
 * becomes due on the way ends at once.
 */
export declare class WorldClock {
    #private;
    /** @param options `startMs` since the Unix epoch, the real time when absent */
    constructor(options: {
        mode: 'running' | 'still';
        startMs?: number | undefined;
    });
    /** Continues from a stored state. */
    static from(state: ClockState): WorldClock;
    get state(): ClockState;
    /** Milliseconds since the Unix epoch, an integer. */
    now(): number;
    /** Moves the clock forward. @throws RangeError unless `ms` is an integer of at least 0 */
    advance(ms: number): void;
    /** Resolves to true when `ms` have passed on this clock, to false when `signal` is aborted before. */
    wait(ms: number, signal: AbortSignal): Promise<boolean>;
}
