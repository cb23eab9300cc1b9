import type { RecordKind } from '../persistence/persistence.ts';
import type { ScheduledStep, StepError } from './schedule.ts';
/** Former names of what others rely on. They go on working. */
/** A `StepError`, as `onMishap` and the operation `story` give it. */
export interface Mishap {
    atMs: number;
    deed: StepError['action'];
    why: string;
}
export declare function toMishap({ atMs, action, reason }: StepError): Mishap;
/** How steps are stored: files of the first version have `deed`. */
export declare const STEP_KIND: RecordKind<ScheduledStep>;
