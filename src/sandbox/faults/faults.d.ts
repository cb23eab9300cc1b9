import { type FaultName, type FaultOptions, type FaultPhase } from './table.ts';
/** A fault that is set. */
export interface ActiveFault extends FaultOptions {
    id: number;
    name: FaultName;
}
/** The faults that are set, in the order they were set. */
export declare class Faults {
    #private;
    /** Sets a fault; gives its number, for `clear`. */
    set(name: FaultName, options?: FaultOptions): number;
    /** Ends one fault, or all. */
    clear(id?: number): void;
    /** The faults that strike a call in a phase. Each counts as a use. */
    take(phase: FaultPhase, call: {
        route: string;
        botId: number | undefined;
    }): ActiveFault[];
    /** The fault of that name that applies to a bot now, or null. Counts as a use. */
    takeRule(name: FaultName, botId: number): ActiveFault | null;
    /** The fault of that name that is set for a chat, or null. Does not count as a use. */
    activeRule(name: FaultName, chatId: number): ActiveFault | null;
}
