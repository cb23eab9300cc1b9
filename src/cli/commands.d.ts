/** The commands there are, each loaded when it is asked for. */
import { Command } from 'commander';
/** Gives the command of a name alone, or all where there is none of that name. */
export declare function loadCommands(name?: string): Promise<Command[]>;
