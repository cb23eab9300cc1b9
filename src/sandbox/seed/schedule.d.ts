import type { Control } from '../control/table.ts';
import type { World } from '../world.ts';
import { type ActionName } from './actions.ts';
/** An action of a seed's schedule, with ids in the place of names. */
export interface ScheduledStep {
    atMs: number;
    action: ActionName;
    /** Messages may still be `last`, or `last by ID`; they are looked up when the step is due. */
    input: Record<string, unknown>;
}
/** A step that failed. */
export interface StepError {
    atMs: number;
    action: ActionName;
    reason: string;
}
/** What is scheduled to happen in a world, on its clock. Steps that are left are stored. */
export declare class Schedule {
    #private;
    readonly errors: StepError[];
    constructor(world: World);
    /** How many steps are left. */
    get left(): number;
    add(step: ScheduledStep): void;
    /** Starts or resumes the schedule. @param onError called for each step that fails */
    start(control: Control, onError: (error: StepError) => void): void;
    /** Resolves when every step that is due by now is done. */
    caughtUp(): Promise<void>;
}
