/** A rotation as it can be watched; what it does is on disk, this is what is known of its course. */
/**
 * `made`: the key is on disk. `holding`: sends under way are waited for, later ones wait.
 * `publishing`, `confirming`: at the service. `waiting`: it did not work, and is tried again.
 */
export type RotationPhase = 'made' | 'holding' | 'publishing' | 'confirming' | 'waiting' | 'done' | 'abandoned';
/** What an attempt at a rotation came to. */
export type RotationOutcome = 'done' | 'abandoned' | 'refused' | 'unanswered' | 'unconfirmed' | 'not-made';
/** A rotation. Times are ms since the epoch. */
export interface Rotation {
    /** Fingerprints of the key that was active, and of the one that is to be. */
    from: string;
    to: string;
    phase: RotationPhase;
    startedAtMs: number;
    endedAtMs: number | null;
    /** Attempts at publishing that were begun since the sidecar started. */
    attempts: number;
    /** What is waited for, for people. */
    detail: string;
    /** When the next attempt is made, while waiting. */
    nextAttemptAtMs: number | null;
}
/** The rotation under way, or the last that ended since the start. */
export declare class RotationWatch {
    #private;
    get latest(): Rotation | null;
    /** The one under way. */
    get current(): Rotation | null;
    /** How long until the next attempt, in ms; 0 when it is due. */
    get waitMs(): number;
    /** Whether one ended at this moment of the monotonic clock, or later. */
    endedSince(momentMs: number): boolean;
    /** @param detail what is waited for; a rotation that a former process began is taken up again */
    begin(o: {
        from: string;
        to: string;
        startedAtMs: number;
        detail: string;
    }): Rotation;
    /** Nothing happens when none is under way, as in all below. */
    enter(phase: 'holding' | 'publishing' | 'confirming', detail: string): void;
    /**
     * It did not work. The next attempt is made later each time, up to an hour.
     * @param o `atLeastMs` as long as the service asks for
     */
    wait({ detail, atLeastMs }: {
        detail: string;
        atLeastMs?: number;
    }): void;
    /** Something else must change first; then the next attempt is made at once. */
    stall(detail: string): void;
    /** The next attempt is due. */
    hurry(): void;
    /** @returns the one that ended, or null */
    end(phase: 'done' | 'abandoned'): Rotation | null;
}
