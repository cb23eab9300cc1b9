import type { ActiveFault } from './faults.ts';
/** The call that a response answers. */
export interface ResponseContext {
    route: string;
    params: Record<string, string>;
}
/** Changes a `result` in place as the fault says. */
export declare function applyLie(result: unknown, fault: ActiveFault, context: ResponseContext): void;
